// Utilities of c10 and ATen besides tensors, and headers of single parts of torch::nn. The expected
// results are LibTorch's.
#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Version.h>
#include <ATen/WrapDimUtils.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/SmallVector.h>
#include <c10/util/accumulate.h>
#include <c10/util/flat_hash_map.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/util/string_view.h>
#include <c10/util/tempfile.h>
#include <gtest/gtest.h>
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/options/linear.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/torch.h>

#include <unistd.h>

#include <string>
#include <unordered_set>

namespace {

using Ints = std::vector<int64_t>;

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(Utilities, SmallVectorSupportsVectorOperations) {
  c10::SmallVector<int64_t, 4> v{1, 2};
  v.push_back(3);
  v.append({4, 5});
  v.insert(v.begin(), 9);
  v.emplace_back(7);
  v.erase(v.begin());
  const at::IntArrayRef list = v;
  EXPECT_EQ(list.vec(), (Ints{1, 2, 3, 4, 5, 7}));
  EXPECT_EQ(v.front() + v.back() + v.pop_back_val(), 15);
  c10::SmallVector<int64_t, 4> w(3, 1), x(v.begin(), v.end()), y(w);
  y = x;
  w.assign(2, 8);
  w.resize(4, 5);
  EXPECT_EQ(at::IntArrayRef(w).vec(), (Ints{8, 8, 5, 5}));
  EXPECT_TRUE(x == y);
  EXPECT_EQ(torch::zeros(w).dim(), 4);
  c10::SmallVector<std::string, 2> names;
  names.push_back("a");
  const auto moved = std::move(names);
  EXPECT_EQ(moved[0], "a");
  at::DimVector sizes{2, 3};
  sizes.push_back(1);
  EXPECT_EQ(torch::zeros(sizes).sizes(), (Ints{2, 3, 1}));
  EXPECT_EQ(c10::DimVector(sizes.begin(), sizes.end()).size(), 3u);
}

TEST(Utilities, IntegerFunctionsMatchLibTorch) {
  EXPECT_EQ(c10::multiply_integers(Ints{2, 3}), 6);
  EXPECT_EQ(c10::multiply_integers(at::IntArrayRef()), 1);
  EXPECT_EQ(c10::sum_integers(std::vector<int>{1, 2}), 3);
  const Ints sizes{2, 3, 4};
  EXPECT_EQ(c10::numelements_from_dim(1, sizes), 12);
  EXPECT_EQ(c10::numelements_to_dim(1, sizes), 2);
  EXPECT_EQ(c10::numelements_between_dim(0, 2, sizes), 6);
  EXPECT_EQ(c10::maybe_wrap_dim(-1, 3), 2);
  EXPECT_EQ(at::maybe_wrap_dim(-2, torch::zeros({1, 2, 3})), 1);
  EXPECT_THROW(c10::maybe_wrap_dim(4, 3), c10::IndexError);
  EXPECT_EQ(at::infer_size({2, 1}, {1, 3}), (Ints{2, 3}));
  EXPECT_THROW(at::infer_size({2, 2}, {1, 3}), c10::Error);
  EXPECT_EQ(at::divup(5, 2), 3);
  const auto sum = [](int64_t begin, int64_t end, int64_t start) {
    for (; begin < end; ++begin) start += begin;
    return start;
  };
  EXPECT_EQ(at::parallel_reduce(0, 100, 10, int64_t(0), sum, std::plus<int64_t>()), 4950);
}

TEST(Utilities, StringFunctionsMatchLibTorch) {
  EXPECT_EQ(c10::Join(", ", std::vector<int>{1, 2, 3}), "1, 2, 3");
  EXPECT_EQ(c10::Join("-", std::vector<std::string>{}), "");
  const c10::string_view view = "abc";
  EXPECT_EQ(c10::str("a", view.substr(1)), "abc");
}

TEST(Utilities, ArraysAndOptionsHaveAccessors) {
  const at::IntArrayRef list({1, 2, 3});
  EXPECT_EQ(*list.cbegin() + *list.rbegin(), 4);
  EXPECT_TRUE(list.allMatch([](int64_t i) { return i > 0; }));
  EXPECT_EQ(c10::makeArrayRef(Ints{1}).size(), 1u);
  EXPECT_FALSE(c10::OptionalArrayRef<int64_t>(std::nullopt).has_value());
  const std::vector<double> one{1.};
  EXPECT_EQ(c10::OptionalArrayRef<double>(one)->size(), 1u);
  const auto options = torch::TensorOptions().layout(torch::kStrided).requires_grad(true);
  EXPECT_TRUE(options.layout_opt() && options.requires_grad_opt() && !options.is_sparse());
  EXPECT_FALSE(options.pinned_memory_opt().has_value());
  EXPECT_TRUE(options.type_equal(torch::kFloat));
}

TEST(Utilities, DevicesHaveNamesAndHashes) {
  const c10::Device::Type type = c10::Device::Type::CPU;
  EXPECT_EQ(c10::Device(type), torch::Device("cpu"));
  EXPECT_EQ(c10::DeviceTypeName(type) + c10::DeviceTypeName(torch::kCUDA, true), "CPUcuda");
  const std::unordered_set<c10::Device> devices{torch::kCPU, torch::Device("cuda:1")};
  EXPECT_EQ(devices.count(c10::Device("cuda:1")), 1u);
  EXPECT_TRUE(c10::isValidDeviceType(type));
  EXPECT_EQ(torch::hasCUDA(), torch::cuda::is_available());
  EXPECT_EQ(at::getNumGPUs(), torch::getNumGPUs());
  EXPECT_FALSE(at::hasMPS());
}

TEST(Utilities, ErrorsHaveMessages) {
  try {
    throw torch::Error({"f", "file.cpp", 3}, "message");
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "message");
    EXPECT_EQ(std::string(error.what()).find("message\nException raised from f at file.cpp:3"), 0u);
  }
  EXPECT_THROW(C10_THROW_ERROR(ValueError, "bad"), c10::ValueError);
  EXPECT_THROW(at::Scalar(300).toByte(), std::runtime_error);
}

TEST(Utilities, ErrorsShowTheProgramsContexts) {
  c10::Error error({"f", "a.cpp", 3}, "text");
  EXPECT_TRUE(error.context().empty());
  error.add_context("one");
  EXPECT_STREQ(error.what_without_backtrace(), "text (one)");
  error.add_context("two");
  EXPECT_STREQ(error.what_without_backtrace(), "text\n  one\n  two");
  EXPECT_TRUE(std::string(error.what())
                  .starts_with("text\n  one\n  two\nException raised from f "
                               "at a.cpp:3"));
  EXPECT_EQ(error.msg(), "text");
  EXPECT_NE(error.backtrace().find("a.cpp:3"), std::string::npos);
  std::string text = "aXbX";
  EXPECT_EQ(c10::ReplaceAll(text, "X", "--"), 2U);
  EXPECT_EQ(text, "a--b--");
  EXPECT_EQ(c10::detail::StripBasename("a/b.cpp"), "b.cpp");
  EXPECT_NE(at::show_config().find("CPU capability usage: " + at::get_cpu_capability()),
            std::string::npos);
}

TEST(Utilities, IValuesCanBePrinted) {
  using c10::IValue;
  EXPECT_EQ(text(IValue(1)) + text(IValue(2.5)) + text(IValue(1.0)), "12.51.");
  EXPECT_EQ(text(IValue("s")) + text(IValue(true)) + text(IValue()), "sTrueNone");
  EXPECT_EQ(text(IValue(Ints{1, 2})), "[1, 2]");
  EXPECT_EQ(text(IValue(std::vector<double>{1, 2.5})), "[1., 2.5]");
  EXPECT_EQ(text(IValue(1e20)), "1e+20");
  EXPECT_EQ(text(IValue(torch::ones({1}))), text(torch::ones({1})));
  EXPECT_TRUE(IValue(std::optional<int64_t>()).isNone() && IValue(at::Scalar(3)).isInt());
  EXPECT_EQ(IValue(3).to<int64_t>() + IValue(3).toScalar().toLong(), 6);
}

TEST(Utilities, SmartPointersAndFilesManageOwnership) {
  struct Counted : c10::intrusive_ptr_target {
    explicit Counted(int v) : value(v) {}
    int value;
  };
  auto first = c10::make_intrusive<Counted>(3);
  c10::intrusive_ptr<Counted> second = first;
  const c10::weak_intrusive_ptr<Counted> weak(first);
  EXPECT_EQ(second->value + int(first.use_count()), 5);
  second.reset();
  EXPECT_TRUE(first.unique() && weak.lock() == first);
  first.reset();
  EXPECT_TRUE(weak.expired() && !first.defined());
  const torch::Tensor t = torch::ones({2});
  EXPECT_EQ(c10::MaybeOwned<torch::Tensor>::borrowed(t)->numel(), 2);
  EXPECT_EQ((*c10::MaybeOwned<torch::Tensor>::owned(torch::ones({3}))).numel(), 3);
  ska::flat_hash_map<std::string, int> map;
  map["a"] = 1;
  map.emplace("b", 2);
  EXPECT_EQ(map.at("a") + map.at("b"), 3);
  std::string name;
  {
    const auto file = c10::make_tempfile("pre-");
    name = file.name;
    EXPECT_NE(name.find("pre-"), std::string::npos);
    torch::save(t, name);
    torch::Tensor back;
    torch::load(back, name);
    EXPECT_TRUE(torch::equal(back, t));
  }
  EXPECT_NE(::access(name.c_str(), F_OK), 0);
}

TEST(Utilities, DispatchSupportsMoreTypes) {
  std::string sizes;
  const auto note = [&sizes](size_t size) { sizes += std::to_string(size) + " "; };
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX(at::kComplexDouble, "x", [&] { note(sizeof(scalar_t)); });
  AT_DISPATCH_FLOATING_TYPES_AND3(at::kHalf, at::kBFloat16, at::kBool, at::kBool, "x",
                                  [&] { note(sizeof(scalar_t)); });
  AT_DISPATCH_ALL_TYPES_AND3(at::kHalf, at::kBFloat16, at::kBool, at::kHalf, "x",
                             [&] { note(sizeof(scalar_t)); });
  AT_DISPATCH_INDEX_TYPES(at::kLong, "x", [&] { note(sizeof(index_t)); });
  AT_DISPATCH_COMPLEX_TYPES(at::kComplexFloat, "x", [&] { note(sizeof(scalar_t)); });
  EXPECT_EQ(sizes, "16 1 2 8 8 ");
}

TEST(Utilities, AccessorsReadElements) {
  const auto t = torch::arange(4.).view({2, 2});
  const at::TensorAccessor<float, 2, at::DefaultPtrTraits> a = t.accessor<float, 2>();
  const at::PackedTensorAccessor32<float, 2, at::DefaultPtrTraits> p =
      t.packed_accessor32<float, 2>();
  EXPECT_EQ(a[1][1] + p[1][0], 5);
}

TEST(Utilities, HardtanhClamps) {
  namespace F = torch::nn::functional;
  const auto x = torch::arange(-3., 3.);
  const auto options = F::HardtanhFuncOptions().min_val(-1).max_val(2);
  EXPECT_TRUE(torch::equal(F::hardtanh(x, options), x.clamp(-1, 2)));
  EXPECT_TRUE(torch::equal(torch::nn::Hardtanh()(x), x.clamp(-1, 1)));
}

TEST(Utilities, DeprecatedTypes) {
  const auto x = torch::ones({2}, torch::kDouble);
  EXPECT_EQ(x.type().scalarType(), torch::kDouble);
  EXPECT_EQ(x.type(), torch::zeros({3}, torch::kDouble).type());
  EXPECT_FALSE(x.type().is_cuda());
  EXPECT_EQ(x.type().toString(), "CPUDoubleType");
  EXPECT_EQ(torch::zeros({1}, x.type()).dtype(), torch::kDouble);
  EXPECT_EQ(torch::zeros({1}, x.type().options()).dtype(), torch::kDouble);
}

}  // namespace
