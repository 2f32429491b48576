// Norms of gradients and clipping by them.
#include <gtest/gtest.h>

#include <cmath>

#include "core/observer.h"
#include "hearth/hearth.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using namespace nn::utils;

Tensor with_grad(const Tensor& grad) {
  Tensor param = zeros_like(grad).requires_grad_();
  param.mutable_grad() = grad;
  return param;
}

/// Two parameters with the gradients [3, -4] and [[0], [12]].
Tensors parameters(Device device, ScalarType dtype = kFloat) {
  return {with_grad(tensor({3.0, -4.0}).to(device, dtype)),
          with_grad(tensor({0.0, 12.0}).reshape({2, 1}).to(device, dtype))};
}

TEST(ClipGrad, SupportsNormsOfAnyOrder) {
  for (const Device device : devices()) {
    const auto norm = [device](double order) {
      return clip_grad_norm_(parameters(device), 100, order);
    };
    EXPECT_EQ(norm(2), 13);
    EXPECT_EQ(norm(1), 19);
    EXPECT_EQ(norm(INFINITY), 12);
    EXPECT_EQ(norm(-INFINITY), 0);
    EXPECT_EQ(norm(0), 2);  // as in LibTorch, the number of gradients
    EXPECT_NEAR(norm(3), std::cbrt(27 + 64 + 1728), 1e-5);
  }
}

TEST(ClipGrad, ScalesAllGradients) {
  for (const Device device : devices())
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const Tensors params = parameters(device, dtype);
      EXPECT_EQ(clip_grad_norm_(params, 6.5), 13);
      EXPECT_NEAR(params[0].grad()[1].item<double>(), -2, 1e-6) << name_of(dtype);
      EXPECT_NEAR(params[1].grad()[1].item<double>(), 6, 1e-6) << name_of(dtype);
      clip_grad_norm_(params, 100);
      EXPECT_NEAR(params[0].grad()[0].item<double>(), 1.5, 1e-6) << name_of(dtype);
    }
}

TEST(ClipGrad, TakesMixedDtypesDevicesAndLayouts) {
  const Tensor strided = zeros({2, 4}).slice(1, 0, 4, 2);
  strided.fill_(1.5);
  const Tensors params{
      with_grad(tensor({2.0}).to(kDouble)), with_grad(full({1}, 4.0).to(devices().back())),
      with_grad(full({1}, 4.0, kBFloat16)), with_grad(zeros({0})), with_grad(strided)};
  params[4].mutable_grad() = strided;
  EXPECT_NEAR(clip_grad_norm_(params, 1), std::sqrt(4 + 16 + 16 + 9), 1e-5);
  EXPECT_NEAR(params[1].grad().item<double>(), 4 / std::sqrt(45), 1e-5);
  EXPECT_NEAR(params[4].grad()[1][1].item<double>(), 1.5 / std::sqrt(45), 1e-5);
}

TEST(ClipGrad, TotalNormsAndScalingByThem) {
  for (const Device device : devices()) {
    const Tensors params = parameters(device);
    const Tensors grads{params[0].grad(), params[1].grad(), zeros({3}).to(device)};
    EXPECT_EQ(get_total_norm(grads).item<float>(), 13);
    EXPECT_EQ(get_total_norm(grads).device(), device);
    EXPECT_EQ(get_total_norm(grads, 0).item<float>(),
              2);  // as in Python, the number of nonzero gradients
    clip_grads_with_norm_(params, 1, tensor(10.0));
    EXPECT_NEAR(params[1].grad()[1].item<double>(), 1.2, 1e-5);
    clip_grads_with_norm_(params, 1, get_total_norm(grads).to(device));
    EXPECT_NEAR(params[1].grad()[1].item<double>(), 1.2 / 1.3, 1e-5);
  }
  EXPECT_EQ(get_total_norm({}).item<float>(), 0);
}

TEST(ClipGrad, ReportsOrKeepsNonFiniteNorms) {
  const auto bad = [] { return with_grad(tensor({NAN, 1.f})); };
  EXPECT_ERROR(clip_grad_norm_(bad(), 1, 2, true),
               "The total norm of order 2 for gradients from `parameters` is non-finite");
  EXPECT_ERROR(get_total_norm({tensor({INFINITY})}, 1, true), "The total norm of order 1");
  const Tensor kept = bad();
  EXPECT_TRUE(std::isnan(clip_grad_norm_(kept, 1)));
  EXPECT_TRUE(kept.grad().isnan().all().item<bool>());
  const Tensor infinite = with_grad(tensor({INFINITY, 1.f}));
  clip_grad_norm_(infinite, 1);
  EXPECT_TRUE(std::isnan(infinite.grad()[0].item<float>()));
  EXPECT_EQ(infinite.grad()[1].item<float>(), 0);
}

/// Counts the calls of operators.
struct Calls final : Observer {
  void begin(const ObservedCall&) override { ++count; }
  void end(const ObservedCall&) override {}
  int count = 0;
};

TEST(ClipGrad, CallsTwoOperatorsForAnyNumberOfParameters) {
  Tensors params;
  for (int i = 0; i < 300; ++i) params.push_back(with_grad(ones({3})));
  Calls calls;
  {
    const ObserverGuard guard(calls);
    EXPECT_EQ(clip_grad_norm_(params, 1), 30);
  }
  EXPECT_EQ(calls.count, 2);
}

}  // namespace
}  // namespace hearth::testing
