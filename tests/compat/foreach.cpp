// Operators on lists of tensors. The figures are NumPy's.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <vector>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::text_of_error;

using Tensors = std::vector<torch::Tensor>;

Tensors a() { return {torch::tensor({0.5, 0.25}), torch::tensor({{0.75, 1.5}})}; }
Tensors b() { return {torch::tensor({2.0, 3.0}), torch::tensor({{4.0, 0.5}})}; }

/// Expects the elements of all tensors, in order, to be close to the figures.
void expect(const Tensors& list, const std::vector<double>& figures) {
  Tensors flat;
  for (const auto& tensor : list) flat.push_back(tensor.flatten().to(torch::kDouble));
  const auto wanted = torch::tensor(figures, torch::kDouble);
  ASSERT_EQ(torch::cat(flat).sizes(), wanted.sizes());
  EXPECT_TRUE(torch::cat(flat).allclose(wanted, 0, 1e-6)) << torch::cat(flat);
}

TEST(Foreach, ReturnsNewTensors) {
  expect(torch::_foreach_add(a(), 2), {2.5, 2.25, 2.75, 3.5});
  expect(torch::_foreach_add(a(), b(), 0.5), {1.5, 1.75, 2.75, 1.75});
  expect(at::_foreach_sub(a(), at::ArrayRef<at::Scalar>({1, 2})), {-0.5, -0.75, -1.25, -0.5});
  expect(torch::_foreach_add(a(), torch::tensor(3.0), 2), {6.5, 6.25, 6.75, 7.5});
  expect(torch::_foreach_mul(a(), b()), {1, 0.75, 3, 0.75});
  expect(torch::_foreach_div(a(), torch::tensor(2.0)), {0.25, 0.125, 0.375, 0.75});
  expect(torch::_foreach_maximum(a(), 0.6), {0.6, 0.6, 0.75, 1.5});
  expect(torch::_foreach_minimum(a(), b()), {0.5, 0.25, 0.75, 0.5});
  expect(torch::_foreach_clamp_min(a(), 0.6), {0.6, 0.6, 0.75, 1.5});
  expect(torch::_foreach_pow(a(), 2), {0.25, 0.0625, 0.5625, 2.25});
  expect(torch::_foreach_pow(at::Scalar(4), a()), {2, 1.41421356, 2.82842712, 8});
  expect(torch::_foreach_sqrt(b()), {1.41421356, 1.73205081, 2, 0.70710678});
  expect(torch::_foreach_neg(a()), {-0.5, -0.25, -0.75, -1.5});
  expect(torch::_foreach_norm(a()), {0.55901699, 1.67705098});
  expect(torch::_foreach_norm(a(), 1, torch::kDouble), {0.75, 2.25});
  expect(torch::_foreach_max(a()), {0.5, 1.5});
  expect(torch::_foreach_addcmul(a(), b(), b(), 0.1), {0.9, 1.15, 2.35, 1.525});
  expect(torch::_foreach_addcdiv(a(), b(), b(), at::ArrayRef<at::Scalar>({1, 2})),
         {1.5, 1.25, 2.75, 3.5});
  expect(torch::_foreach_lerp(a(), b(), 0.25), {0.875, 0.9375, 1.5625, 1.25});
  expect(torch::_foreach_lerp(a(), b(), a()), {1.25, 0.9375, 3.1875, 0});
}

TEST(Foreach, ChangesTensorsInPlace) {
  auto list = a();
  torch::_foreach_add_(list, 1.0);
  torch::_foreach_mul_(list, torch::tensor(2.0));
  torch::_foreach_add_(list, b(), -1);
  expect(list, {1, -0.5, -0.5, 4.5});
  torch::_foreach_lerp_(list, a(), 0.5);
  torch::_foreach_addcdiv_(list, a(), b(), -1);
  expect(list, {0.5, -0.20833333, -0.0625, 0});
  torch::_foreach_zero_(list);
  expect(list, {0, 0, 0, 0});
  torch::_foreach_copy_(list, b());
  torch::_foreach_sqrt_(list);
  expect(list, {1.41421356, 1.73205081, 2, 0.70710678});
}

TEST(Foreach, ChecksTheLists) {
  EXPECT_EQ(text_of_error([] { torch::_foreach_add({}, 1); }),
            "Tensor list must have at least one tensor.");
  EXPECT_EQ(text_of_error([] { torch::_foreach_mul(a(), Tensors{torch::ones({1})}); }),
            "Tensor lists must have the same number of tensors, got 2 and 1");
  EXPECT_EQ(text_of_error([] { torch::_foreach_div(a(), at::ArrayRef<at::Scalar>({1})); }),
            "Tensor list must have same number of elements as scalar list.");
}

}  // namespace
