// Optimizers over 1,000 steps, compared with PyTorch's results (tests/oracle/optim_cases.py).
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "hearth/io/archive.h"
#include "tests/optim/fixture.h"

namespace hearth::testing {
namespace {

using namespace optim;

Tensors initial_parameters(ScalarType dtype, Device device) {
  const auto make = [&](int64_t count, std::vector<int64_t> sizes) {
    return (arange(1, 1 + count, kDouble) / 4).reshape(sizes).to(device, dtype).requires_grad_();
  };
  return {make(3, {3}), make(4, {2, 2}), make(1, {})};
}

/// The gradient of parameter `number` at a step, as in optim_cases.py.
Tensor gradient(int64_t number, const Tensor& param, int64_t step) {
  const NoGradGuard no_grad;
  const Tensor slope = (arange(1, 1 + param.numel(), kDouble) / 8)
                           .reshape(param.sizes())
                           .to(param.device(), param.scalar_type());
  return (param - double(number - 1) / 2) * slope + double(step * 7 % 11 - 5) / 16;
}

template <class O, class Options>
MakeOptimizer plain(Options options) {
  return [options](const Tensors& p) { return std::make_unique<O>(p, options); };
}

std::map<std::string, MakeOptimizer> libtorch_optimizers() {
  return {
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
      {"adam_decoupled",
       plain<Adam>(AdamOptions(0.01).weight_decay(0.1).decoupled_weight_decay(true))},
  };
}

/// Variants of Adam, and Adadelta.
std::map<std::string, MakeOptimizer> adaptive_optimizers() {
  return {
      {"nadam", plain<NAdam>(NAdamOptions())},
      {"nadam_decoupled", grouped<NAdam>(NAdamOptions(0.01)
                                             .betas({0.8, 0.99})
                                             .eps(1e-6)
                                             .weight_decay(0.1)
                                             .momentum_decay(0.02)
                                             .decoupled_weight_decay(true))},
      {"nadam_maximize", plain<NAdam>(NAdamOptions(1e-3).weight_decay(0.1).maximize(true))},
      {"radam", plain<RAdam>(RAdamOptions())},
      {"radam_decoupled",
       grouped<RAdam>(
           RAdamOptions(0.01).betas({0.8, 0.99}).weight_decay(0.1).decoupled_weight_decay(true))},
      {"radam_maximize",
       plain<RAdam>(RAdamOptions().betas({0.9, 0.7}).weight_decay(0.1).eps(1e-4).maximize(true))},
      {"adamax", plain<Adamax>(AdamaxOptions())},
      {"adamax_maximize",
       grouped<Adamax>(
           AdamaxOptions(1e-3).betas({0.8, 0.99}).eps(0.1).weight_decay(0.1).maximize(true))},
      {"adadelta", plain<Adadelta>(AdadeltaOptions())},
      {"adadelta_maximize",
       grouped<Adadelta>(AdadeltaOptions(0.1).rho(0.8).eps(1e-4).weight_decay(0.1).maximize(true))},
  };
}

/// Muon for the matrix, the only parameter that it supports.
MakeOptimizer muon(const MuonOptions& options) {
  return [options](const Tensors& p) { return std::make_unique<Muon>(Tensors{p[1]}, options); };
}

std::map<std::string, MakeOptimizer> other_optimizers() {
  return {
      {"asgd", plain<ASGD>(ASGDOptions())},
      {"asgd_averaged",
       grouped<ASGD>(ASGDOptions(0.05).lambd(0.02).alpha(0.6).t0(20).weight_decay(0.1))},
      {"asgd_maximize", plain<ASGD>(ASGDOptions(1e-3).t0(1).maximize(true))},
      {"rprop", plain<Rprop>(RpropOptions())},
      {"rprop_groups",
       grouped<Rprop>(RpropOptions(0.1).etas({0.25, 1.5}).step_sizes({0.0078125, 2}))},
      {"rprop_maximize",
       plain<Rprop>(RpropOptions(0x1p-10).step_sizes({0x1p-12, 0x1p-8}).maximize(true))},
      {"adafactor", plain<Adafactor>(AdafactorOptions())},
      {"adafactor_decay",
       grouped<Adafactor>(
           AdafactorOptions(0.05).beta2_decay(-0.5).eps({1e-6, 0.01}).d(1.5).weight_decay(0.1))},
      {"adafactor_maximize", plain<Adafactor>(AdafactorOptions(1e-3).maximize(true))},
      {"muon", muon(MuonOptions())},
      {"muon_adamw", muon(MuonOptions(0.01)
                              .weight_decay(0.2)
                              .momentum(0.8)
                              .nesterov(false)
                              .ns_steps(3)
                              .eps(1e-5)
                              .ns_coefficients({3.0, -3.0, 1.0})
                              .adjust_lr_fn("match_rms_adamw"))},
  };
}

const std::map<std::string, MakeOptimizer>& optimizers() {
  static const std::map<std::string, MakeOptimizer> result = [] {
    std::map<std::string, MakeOptimizer> merged = libtorch_optimizers();
    merged.merge(adaptive_optimizers());
    merged.merge(other_optimizers());
    return merged;
  }();
  return result;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted,
                 double tolerance, const std::string& description) {
  ASSERT_EQ(got.size(), wanted.size()) << description;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance * (std::fabs(wanted[i]) + 1e-3))
        << description << ", value " << i;
}

class OptimizerCases : public ::testing::TestWithParam<Fixture> {};

/// Runs the steps `first` to `last`. In every third step, the second parameter has no gradient.
void train(Optimizer& optimizer, const Tensors& params, int64_t first, int64_t last) {
  for (int64_t step = first; step <= last; ++step) {
    for (size_t i = 0; i < params.size(); ++i) {
      const bool is_skipped = i == 1 && step % 3 == 0;
      params[i].mutable_grad() = is_skipped ? Tensor() : gradient(int64_t(i), params[i], step);
    }
    optimizer.step();
  }
}

/// The tolerance of a fixture's values. Rprop follows signs and Muon computes in bfloat16, so their
/// rounding errors grow.
double tolerance_of(const Fixture& fixture) {
  if (fixture.name.starts_with("muon")) return 2e-2;
  if (fixture.dtype == kDouble) return 1e-10;
  return fixture.name.starts_with("rprop") ? 2e-3 : 2e-4;
}

TEST_P(OptimizerCases, AgreeWithPyTorchForAThousandSteps) {
  const Fixture& fixture = GetParam();
  for (const Device device : devices()) {
    const Tensors params = initial_parameters(fixture.dtype, device);
    const OptimizerPtr optimizer = optimizers().at(fixture.name)(params);
    int64_t last_step = 0;
    for (const auto& [step, wanted] : fixture.steps) {
      train(*optimizer, params, last_step + 1, step);
      last_step = step;
      expect_near(elements(params), wanted, tolerance_of(fixture),
                  detail::str(fixture.name, " step ", step, " on ", device));
    }
  }
}

/// A copy of an optimizer and its parameters, through a state dict or an archive.
struct Copy {
  Copy(const Fixture& fixture, const Optimizer& from, const Tensors& values, bool uses_archive)
      : params(initial_parameters(fixture.dtype, values[0].device())),
        optimizer(optimizers().at(fixture.name)(params)) {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < params.size(); ++i) params[i].copy_(values[i]);
    if (uses_archive)
      load_archive(from);
    else
      optimizer->load_state_dict(from.state_dict());
  }
  void load_archive(const Optimizer& from) {
    serialize::OutputArchive out;
    from.save(out);
    std::stringstream stream;
    out.save_to(stream);
    serialize::InputArchive in;
    in.load_from(stream);
    optimizer->load(in);
  }
  Tensors params;
  OptimizerPtr optimizer;
};

TEST_P(OptimizerCases, ResumeBitForBit) {
  for (const Device device : devices())
    for (const bool uses_archive : {false, true}) {
      const Tensors params = initial_parameters(GetParam().dtype, device);
      const OptimizerPtr optimizer = optimizers().at(GetParam().name)(params);
      train(*optimizer, params, 1, 20);
      const Copy copy(GetParam(), *optimizer, params, uses_archive);
      train(*optimizer, params, 21, 40);
      train(*copy.optimizer, copy.params, 21, 40);
      EXPECT_EQ(elements(copy.params), elements(params)) << GetParam().name << device;
    }
}

INSTANTIATE_TEST_SUITE_P(Optim, OptimizerCases, ::testing::ValuesIn(fixtures("case")),
                         name_of_case);

TEST(OptimFixtures, CoverEveryOptimizer) {
  EXPECT_EQ(fixtures("case").size(), 2 * optimizers().size());
}

}  // namespace
}  // namespace hearth::testing
