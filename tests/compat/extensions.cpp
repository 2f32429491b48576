// Headers that custom operators and kernels include: element types for sums, constants, guards. The
// expected results are LibTorch's.
#include <ATen/AccumulateType.h>
#include <ATen/NumericUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/util/MathConstants.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/overloaded.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <type_traits>
#include <variant>

namespace {

TEST(Extensions, ElementTypesOfSums) {
  static_assert(std::is_same_v<at::acc_type<float, false>, double>);
  static_assert(std::is_same_v<at::acc_type<float, true>, float>);
  static_assert(std::is_same_v<at::acc_type<double, true>, double>);
  static_assert(std::is_same_v<at::acc_type<at::Half, false>, float>);
  static_assert(std::is_same_v<at::acc_type<int32_t, true>, int64_t>);
  static_assert(std::is_same_v<at::acc_type<uint8_t, false>, int64_t>);
  static_assert(std::is_same_v<at::acc_type<bool, false>, bool>);
  static_assert(std::is_same_v<at::opmath_type<at::BFloat16>, float>);
  static_assert(std::is_same_v<at::opmath_type<int64_t>, int64_t>);
  EXPECT_EQ(at::toOpMathType(at::kHalf), at::kFloat);
  EXPECT_EQ(at::toOpMathType(at::kDouble), at::kDouble);
}

// As kernels are written for all floating types, also the half ones.
TEST(Extensions, SumsInTheElementsType) {
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const auto x = torch::arange(1, 5, type);
    double total = 0;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "sum", [&] {
      const auto values = x.accessor<const scalar_t, 1>();
      scalar_t sum = 0;
      for (int64_t i = 0; i < values.size(0); ++i) sum += values[i] * 2;
      sum = std::max(sum, -sum);
      total = static_cast<double>(sum);
    });
    EXPECT_EQ(total, 20);
  }
}

TEST(Extensions, Numbers) {
  EXPECT_EQ(at::ceil_div<int64_t>(7, 3), 3);
  EXPECT_EQ(at::round_up(7, 4), 8);
  EXPECT_TRUE(at::_isnan(NAN) && !at::_isnan(3) && at::_isinf(INFINITY));
  EXPECT_EQ(c10::pi<double>, std::acos(-1.0));
  EXPECT_FLOAT_EQ(c10::sqrt_2<float>, std::sqrt(2.0F));
}

TEST(Extensions, Helpers) {
  int calls = 0;
  {
    const auto exit = c10::make_scope_exit([&] { ++calls; });
    auto released = c10::make_scope_exit([&] { ++calls; });
    released.release();
  }
  EXPECT_EQ(calls, 1);
  const std::variant<int, std::string> value = std::string("text");
  EXPECT_EQ(std::visit(c10::overloaded([](int) { return 1; }, [](const std::string&) { return 2; }),
                       value),
            2);
  EXPECT_FALSE(torch::mps::is_available());
  EXPECT_FALSE(torch::xpu::is_available());
}

TEST(Extensions, GuardsAndBuilders) {
  const auto x = torch::ones({2}).requires_grad_();
  {
    const at::AutoDispatchBelowAutograd guard;
    EXPECT_FALSE((x * 2).requires_grad());
  }
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
  float data[] = {1, 2, 3, 4};
  const auto t = at::for_blob(data, {2, 2}).strides({{1, 2}}).make_tensor();
  EXPECT_EQ(t[0][1].item<float>(), 3);
}

TEST(Extensions, BuildersOfTensors) {
  float data[] = {0, 1, 2, 3, 4, 5};
  const auto tail = at::for_blob(data, {2}).storage_offset(2).make_tensor();
  EXPECT_TRUE(tail.equal(torch::tensor({2.0f, 3.0f})));
  EXPECT_EQ(tail.storage_offset(), 2);
  const auto columns = at::for_blob(data, {2, 2})
                           .strides({{1, 2}})
                           .storage_offset(1)
                           .options(torch::kFloat)
                           .target_device(at::Device("cpu"))
                           .make_tensor();
  EXPECT_TRUE(columns.equal(torch::tensor({{1.0f, 3.0f}, {2.0f, 4.0f}})));
  const auto none = at::for_blob(data, {0, 3}).storage_offset(2).make_tensor();
  EXPECT_EQ(none.sizes(), at::IntArrayRef({0, 3}));
  EXPECT_EQ(none.strides(), at::IntArrayRef({3, 1}));
  EXPECT_EQ(none.storage_offset(), 2);
  const auto refused = [&](std::vector<int64_t> strides, int64_t offset) {
    return at::for_blob(data, {5}).strides(at::IntArrayRef(strides)).storage_offset(offset);
  };
  EXPECT_THROW(refused({int64_t(1) << 62}, 2).make_tensor(), c10::Error);
  EXPECT_THROW(refused({-1}, 5).make_tensor(), c10::Error);
  EXPECT_THROW(refused({1}, -2).make_tensor(), c10::Error);
  EXPECT_THROW(refused({1, 1}, 2).make_tensor(), c10::Error);
  int deleted = 0;
  at::for_blob(data, {2})
      .context(&deleted, [](void* context) { ++*static_cast<int*>(context); })
      .make_tensor();
  EXPECT_EQ(deleted, 1);
}

TEST(Extensions, ThreadsOfParallelLoops) {
  EXPECT_FALSE(at::in_parallel_region());
  EXPECT_EQ(at::get_thread_num(), 0);
  const int former = at::get_num_threads();
  at::set_num_threads(2);
  std::atomic<int> inside = 0, calls = 0;
  std::atomic<bool> numbers_fit = true;
  at::parallel_for(0, 64, 1, [&](int64_t, int64_t) {
    ++calls;
    inside += at::in_parallel_region();
    if (at::get_thread_num() < 0 || at::get_thread_num() > 1) numbers_fit = false;
  });
  EXPECT_TRUE(inside == calls || calls == 1);  // LibTorch needs -fopenmp for several threads
  EXPECT_TRUE(numbers_fit);
  EXPECT_FALSE(at::in_parallel_region());
  at::set_num_threads(former);
  std::atomic<int> launched = 0;
  at::intraop_launch([&] { ++launched; });
  std::atomic<bool> records = true;
  {
    const torch::NoGradGuard no_grad;
    at::launch([&] {
      records = torch::GradMode::is_enabled();
      ++launched;
    });
  }
  while (launched < 2) std::this_thread::yield();
  EXPECT_FALSE(records);
  EXPECT_NE(at::get_parallel_info().find("at::get_num_threads() : "), std::string::npos);
  EXPECT_EQ(at::divup(7, 2), 4);
}

struct Twice : torch::autograd::Function<Twice> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& x) {
    return x * 2;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list grads) {
    return {grads[0] * 2};
  }
};

TEST(Extensions, NamesOfCustomFunctions) {
  const auto y = Twice::apply(torch::ones({2}).requires_grad_());
  EXPECT_EQ(y.grad_fn()->name(), "torch::autograd::CppNode<(anonymous namespace)::Twice>");
}

TEST(Extensions, NamesOfModules) {
  EXPECT_EQ(torch::nn::Linear(1, 2)->name(), "torch::nn::LinearImpl");
}

}  // namespace
