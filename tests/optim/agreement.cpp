// Optimizers over 1,000 steps, compared with PyTorch's results, which tests/oracle/optim_cases.py
// wrote to a file.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/optim/fixture.h"

namespace hearth::testing {
namespace {

using namespace optim;

Tensors start(ScalarType dtype, Device device) {
  const auto make = [&](int64_t count, std::vector<int64_t> sizes) {
    return (arange(1, 1 + count, kDouble) / 4).reshape(sizes).to(device, dtype).requires_grad_();
  };
  return {make(3, {3}), make(4, {2, 2}), make(1, {})};
}

Tensor gradient(int64_t number, const Tensor& param, int64_t step) {
  const NoGradGuard off;
  const Tensor slope = (arange(1, 1 + param.numel(), kDouble) / 8)
                           .reshape(param.sizes())
                           .to(param.device(), param.scalar_type());
  return (param - double(number - 1) / 2) * slope + double(step * 7 % 11 - 5) / 16;
}

template <class O, class Options>
MakeOptimizer plain(Options options) {
  return [options](const Tensors& p) { return std::make_unique<O>(p, options); };
}

const std::map<std::string, MakeOptimizer>& optimizers() {
  static const std::map<std::string, MakeOptimizer> all{
      {"sgd", plain<SGD>(SGDOptions(0.05))},
      {"sgd_momentum",
       grouped<SGD>(SGDOptions(0.05).momentum(0.9).dampening(0.1).weight_decay(0.01))},
      {"sgd_nesterov_maximize",
       plain<SGD>(SGDOptions(1e-3).momentum(0.8).nesterov(true).maximize(true))},
      {"adam", plain<Adam>(AdamOptions())},
      {"adam_groups",
       grouped<Adam>(AdamOptions(0.01).betas({0.8, 0.99}).eps(1e-6).weight_decay(0.02))},
      {"adam_amsgrad", plain<Adam>(AdamOptions(0.01).amsgrad(true))},
      {"adam_maximize", plain<Adam>(AdamOptions(1e-3).weight_decay(0.1).maximize(true))},
      {"adamw", plain<AdamW>(AdamWOptions())},
      {"adamw_amsgrad",
       plain<AdamW>(AdamWOptions(0.01).betas({0.85, 0.95}).weight_decay(0.1).amsgrad(true))},
      {"adamw_maximize", grouped<AdamW>(AdamWOptions(1e-3).maximize(true))},
      {"rmsprop", plain<RMSprop>(RMSpropOptions())},
      {"rmsprop_momentum",
       plain<RMSprop>(RMSpropOptions(1e-3).alpha(0.9).momentum(0.7).weight_decay(0.01))},
      {"rmsprop_centered", plain<RMSprop>(RMSpropOptions(1e-3).centered(true).eps(1e-4))},
      {"rmsprop_centered_momentum",
       plain<RMSprop>(RMSpropOptions(1e-3).centered(true).momentum(0.9).eps(1e-4).maximize(true))},
      {"adagrad", plain<Adagrad>(AdagradOptions())},
      {"adagrad_decay",
       plain<Adagrad>(
           AdagradOptions(0.1).lr_decay(0.01).weight_decay(0.02).initial_accumulator_value(0.3))},
      {"adagrad_maximize", plain<Adagrad>(AdagradOptions(1e-3).maximize(true))},
  };
  return all;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted,
                 double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance * (std::fabs(wanted[i]) + 1e-3))
        << what << ", value " << i;
}

class AgreesWithPyTorch : public ::testing::TestWithParam<Fixture> {};

TEST_P(AgreesWithPyTorch, ForAThousandSteps) {
  const Fixture& fixture = GetParam();
  const double tolerance = fixture.dtype == kDouble ? 1e-10 : 2e-4;
  for (const Device device : devices()) {
    const Tensors params = start(fixture.dtype, device);
    const OptimizerPtr optimizer = optimizers().at(fixture.name)(params);
    for (int64_t step = 1; step <= 1000; ++step) {
      for (size_t i = 0; i < params.size(); ++i) {
        const bool skipped = i == 1 && step % 3 == 0;
        params[i].mutable_grad() = skipped ? Tensor() : gradient(int64_t(i), params[i], step);
      }
      optimizer->step();
      const auto wanted = fixture.steps.find(step);
      if (wanted == fixture.steps.end()) continue;
      expect_near(elements(params), wanted->second, tolerance,
                  detail::str(fixture.name, " step ", step, " on ", device));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, AgreesWithPyTorch, ::testing::ValuesIn(fixtures("case")),
                         name_of_case);

TEST(OptimFixtures, CoverEveryOptimizer) {
  EXPECT_EQ(fixtures("case").size(), 2 * optimizers().size());
}

}  // namespace
}  // namespace hearth::testing
