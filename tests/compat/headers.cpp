// Headers that extensions include one by one. The expected results are LibTorch's.
#include <ATen/SmallVector.h>
#include <ATen/core/ATen_fwd.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/core/alignment.h>
#include <c10/util/CallOnce.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/TypeCast.h>
#include <c10/util/bit_cast.h>
#include <c10/util/copysign.h>
#include <c10/util/env.h>
#include <c10/util/generic_math.h>
#include <c10/util/ssize.h>
#include <gtest/gtest.h>
#include <torch/csrc/api/include/torch/nn/functional.h>
#include <torch/csrc/api/include/torch/utils.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/utils/tensor_flatten.h>
#include <torch/torch.h>

#include <cstdlib>
#include <vector>

namespace {

TEST(Headers, OneHeaderForEachOperator) {
  const auto x = at::empty({2}, at::kLong);
  EXPECT_TRUE(at::cat({at::zeros_like(x), at::zeros_like(x)}).equal(torch::zeros({4}, at::kLong)));
}

int call_twice(c10::function_ref<int(int)> f) { return f(1) + f(2); }
int tripled(int x) { return 3 * x; }

TEST(Headers, HelpersOfC10) {
  int calls = 0;
  c10::once_flag once;
  for (int i = 0; i < 2; ++i) c10::call_once(once, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(call_twice([&](int x) { return 10 * x; }), 30);
  EXPECT_EQ(call_twice(tripled), 9);
  EXPECT_EQ(c10::bit_cast<uint32_t>(1.0f), 0x3f800000U);
  EXPECT_EQ(c10::ssize(std::vector<int>(3)), 3);
  EXPECT_EQ(c10::div_floor_integer(-7, 2), -4);
  EXPECT_EQ(c10::copysign(2.0, -0.0), -2);
  EXPECT_EQ((c10::convert<int>(2.9)), 2);
  EXPECT_EQ((c10::convert<double>(c10::complex<float>(1.5, 2))), 1.5);
  EXPECT_EQ(c10::gAlignment, 64U);
  ::setenv("HEARTH_TEST_FLAG", "1", 1);
  EXPECT_EQ(c10::utils::check_env("HEARTH_TEST_FLAG"), true);
  ::unsetenv("HEARTH_TEST_FLAG");
  EXPECT_FALSE(c10::utils::check_env("HEARTH_TEST_FLAG").has_value());
}

TEST(Headers, FlattenedTensors) {
  const std::vector<torch::Tensor> tensors = {torch::ones({2, 2}), torch::zeros({3})};
  const auto flat = torch::utils::flatten_dense_tensors(tensors);
  EXPECT_TRUE(flat.equal(torch::tensor({1.0f, 1.0f, 1.0f, 1.0f, 0.0f, 0.0f, 0.0f})));
  const auto parts = torch::utils::unflatten_dense_tensors(flat, tensors);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_TRUE(parts[0].equal(tensors[0]) && parts[1].equal(tensors[1]));
}

TEST(Headers, PathsInLibTorchsSources) {
  EXPECT_GE(TORCH_VERSION_MAJOR, 2);
  EXPECT_TRUE(torch::nn::functional::relu(torch::ones({1})).equal(torch::ones({1})));
}

TEST(Headers, TensorsHaveTheirBasesName) {
  const auto x = torch::ones({2});
  const at::TensorBase& base = x;
  EXPECT_EQ(base.numel(), 2);
}

}  // namespace
