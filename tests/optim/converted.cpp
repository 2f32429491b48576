// Models that are converted to another dtype after their optimizer has made state, which keeps its
// dtype, as in LibTorch.
#include <gtest/gtest.h>

#include "hearth/optim/optim.h"
#include "tests/optim/support.h"

namespace hearth::testing {
namespace {

using namespace optim;

Tensor start() { return linspace(-1, 1, 6, kDouble).reshape({2, 3}).requires_grad_(); }

/// Converts a parameter as Module::to does.
void convert(const Tensor& param, ScalarType dtype) {
  param.mutable_grad() = Tensor();
  Tensor handle = param;
  handle.set_data(param.detach().to(dtype));
}

void step(Optimizer& optimizer, const Tensor& param, double number) {
  param.mutable_grad() =
      arange(1, 7, kDouble).mul(number).cos().reshape({2, 3}).to(param.scalar_type());
  optimizer.step();
}

/// The parameter after two steps in each dtype.
template <class Kind, class Options>
Tensor trained(const Options& options, ScalarType first, ScalarType second) {
  const Tensor param = start();
  convert(param, first);
  Kind optimizer(std::vector<Tensor>{param}, options);
  convert(param, second);
  convert(param, first);
  for (const double number : {1.0, 2.0}) step(optimizer, param, number);
  convert(param, second);
  for (const double number : {3.0, 4.0}) step(optimizer, param, number);
  EXPECT_EQ(param.scalar_type(), second);
  return param.detach().to(kDouble);
}

template <class Kind, class Options>
void expect_agreement(const char* name, const Options& options) {
  SCOPED_TRACE(name);
  const Tensor expected = trained<Kind>(options, kDouble, kDouble);
  EXPECT_TRUE(trained<Kind>(options, kFloat, kDouble).allclose(expected, 1e-5, 1e-5));
  EXPECT_TRUE(trained<Kind>(options, kDouble, kFloat).allclose(expected, 1e-5, 1e-5));
  EXPECT_TRUE(trained<Kind>(options, kFloat, kBFloat16).allclose(expected, 2e-2, 2e-2));
  EXPECT_TRUE(trained<Kind>(options, kBFloat16, kHalf).allclose(expected, 3e-2, 3e-2));
}

TEST(Converted, StepsAgreeWithTheOnesInDoublePrecision) {
  expect_agreement<Adadelta>("Adadelta", AdadeltaOptions(0.5));
  expect_agreement<Adagrad>("Adagrad", AdagradOptions(0.1));
  expect_agreement<Adam>("Adam", AdamOptions(0.1).amsgrad(true));
  expect_agreement<Adamax>("Adamax", AdamaxOptions(0.1));
  expect_agreement<AdamW>("AdamW", AdamWOptions(0.1));
  expect_agreement<ASGD>("ASGD", ASGDOptions(0.1));
  expect_agreement<NAdam>("NAdam", NAdamOptions(0.1));
  expect_agreement<RAdam>("RAdam", RAdamOptions(0.1));
  expect_agreement<RMSprop>("RMSprop", RMSpropOptions(0.01).momentum(0.5).centered(true).eps(0.1));
  expect_agreement<Rprop>("Rprop", RpropOptions(0.1));
  expect_agreement<SGD>("SGD", SGDOptions(0.1).momentum(0.9).nesterov(true));
}

/// In float16, the squares of the gradients would be 0.
TEST(Converted, StateKeepsItsRange) {
  const Tensor param = leaf({1, 2}, {1e-3, 1e-3}, kFloat);
  Adam optimizer({param}, 0.125);
  optimizer.step();
  convert(param, kHalf);
  param.mutable_grad() = full({2}, 1e-3, kHalf);
  optimizer.step();
  const auto& state =
      static_cast<const AdamParamState&>(*optimizer.state().at(param.unsafeGetTensorImpl()));
  EXPECT_EQ(state.exp_avg_sq().scalar_type(), kFloat);
  EXPECT_TRUE(state.exp_avg_sq().gt(1e-9).all().item<bool>());
  EXPECT_TRUE(param.detach().to(kDouble).allclose(tensor({0.75, 1.75}, kDouble), 1e-2, 1e-2));
}

TEST(Converted, VersionsAreStillUnchangedBySgd) {
  const Tensor param = leaf({1, 2}, {1, 1}, kFloat);
  SGD optimizer({param}, SGDOptions(0.1).momentum(0.9));
  optimizer.step();
  convert(param, kDouble);
  param.mutable_grad() = ones({2}, kDouble);
  const int64_t version = param._version();
  optimizer.step();
  EXPECT_EQ(param._version(), version);
  EXPECT_EQ(param.grad()._version(), 0);
}

}  // namespace
}  // namespace hearth::testing
