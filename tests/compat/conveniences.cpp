// Small utilities that programs for LibTorch use.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <string>
#include <utility>

namespace {

template <class T>
double sum_of(const torch::Tensor& t) {
  double sum = 0;
  for (int64_t i = 0; i < t.numel(); ++i) sum += static_cast<double>(t.data_ptr<T>()[i]);
  return sum;
}

double dispatched_sum(const torch::Tensor& t) {
  return AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, t.scalar_type(), "dispatched_sum",
                                    [&] { return sum_of<scalar_t>(t); });
}

TEST(Conveniences, DispatchSelectsTheType) {
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kLong, torch::kByte, torch::kHalf})
    EXPECT_EQ(dispatched_sum(torch::ones({3}, type)), 3);
  size_t size = 0;
  AT_DISPATCH_FLOATING_TYPES(torch::kDouble, "size", [&] { size = sizeof(scalar_t); });
  EXPECT_EQ(size, sizeof(double));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(torch::kHalf, "size", [&] { size = sizeof(scalar_t); });
  EXPECT_EQ(size, 2U);
  try {
    dispatched_sum(torch::ones({3}, torch::kBool));
    FAIL();
  } catch (const c10::NotImplementedError& error) {
    EXPECT_NE(std::string(error.what()).find("\"dispatched_sum\" not implemented for 'Bool'"),
              std::string::npos);
  }
}

TEST(Conveniences, ParallelForCoversTheRange) {
  std::atomic<int64_t> sum = 0;
  at::parallel_for(0, 1000, 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum += i;
  });
  EXPECT_EQ(sum, 499500);
}

TEST(Conveniences, ForBlobBuildsTensors) {
  float data[4] = {1, 2, 3, 4};
  int freed = 0;
  {
    const torch::Tensor t = torch::for_blob(data, {2, 2})
                                .strides(at::IntArrayRef({1, 2}))
                                .deleter([&](void*) { ++freed; })
                                .options(torch::kFloat)
                                .make_tensor();
    EXPECT_EQ(t[0][1].item<float>(), 3);
  }
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(at::for_blob(data, {4}).make_tensor().sum().item<float>(), 10);
}

TEST(Conveniences, TensorFunctionsWork) {
  torch::Tensor t = torch::ones({2, 3}), u = torch::zeros({1});
  EXPECT_TRUE(torch::is_floating_point(t));
  EXPECT_EQ(t.storage().data_ptr().get(), t.data_ptr());
  EXPECT_EQ(t.split_with_sizes({1, 2}, 1)[1].size(1), 2);
  EXPECT_EQ((t.packed_accessor64<float, 2>()[1][2]), 1);
  t.resize_({3, 3});
  EXPECT_EQ(t.numel(), 9);
  t = std::move(u);
  EXPECT_FALSE(u.defined());  // NOLINT(bugprone-use-after-move)
  const c10::DeviceGuard guard(torch::Device("cpu"));
}

TEST(Conveniences, OlderNamesOfOperators) {
  const auto [values, inverse] = torch::_unique(torch::tensor({3, 1, 3, 2}), true, true);
  EXPECT_TRUE(values.equal(torch::tensor({1, 2, 3})));
  EXPECT_TRUE(inverse.equal(torch::tensor({2, 0, 2, 1})));
  EXPECT_EQ(std::get<1>(at::_unique(values)).numel(), 0);
  EXPECT_TRUE(torch::_cast_Long(torch::tensor({1.7, -2.7})).equal(torch::tensor({1, -2})));
  EXPECT_EQ(torch::_cast_Float(values).scalar_type(), torch::kFloat);
  EXPECT_EQ(at::_cast_Byte(values, false).scalar_type(), torch::kByte);
}

TEST(Conveniences, LiteralsHaveAType) {
  const auto doubled = [](const torch::detail::TensorDataContainer& values) {
    return torch::tensor(values, torch::kDouble) * 2;
  };
  EXPECT_TRUE(
      doubled({{1, 2}, {3, 4}}).equal(torch::tensor({{2.0, 4.0}, {6.0, 8.0}}, torch::kDouble)));
  EXPECT_EQ(c10::str(torch::detail::TensorDataContainer({{1, 2}, {3, 4}})), "{{1, 2}, {3, 4}}");
}

TEST(Conveniences, OptionalListsAreCompared) {
  const at::IntArrayRef sizes({1, 2, 3}), others({1, 2, 4});
  const c10::OptionalIntArrayRef list = sizes, none = std::nullopt;
  EXPECT_TRUE(list == sizes);
  EXPECT_FALSE(list == others);
  EXPECT_FALSE(none == sizes);
}

}  // namespace
