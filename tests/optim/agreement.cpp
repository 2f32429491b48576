// Optimizers and schedulers over 1,000 steps, compared with PyTorch's results, which
// tests/oracle/optim_cases.py wrote to a file.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "hearth/optim/optim.h"
#include "tests/optim/support.h"
#include "tests/support/fixtures.h"

namespace hearth::testing {
namespace {

using namespace optim;

struct Fixture {
  std::string name;
  ScalarType dtype;
  std::map<int64_t, std::vector<double>> steps;
};
void PrintTo(const Fixture& fixture, std::ostream* stream) { *stream << fixture.name; }

std::vector<Fixture> fixtures(bool schedules);

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

/// Two groups: all parameters but the last, and the last with options of its own.
std::vector<OptimizerParamGroup> groups(const Tensors& p,
                                        std::unique_ptr<OptimizerOptions> second) {
  std::vector<OptimizerParamGroup> all;
  all.emplace_back(Tensors(p.begin(), p.end() - 1));
  all.emplace_back(Tensors{p.back()}, std::move(second));
  return all;
}

using OptimizerPtr = std::unique_ptr<Optimizer>;
using MakeOptimizer = std::function<OptimizerPtr(const Tensors&)>;

template <class O, class Options>
MakeOptimizer plain(Options options) {
  return [options](const Tensors& p) { return std::make_unique<O>(p, options); };
}
template <class O, class Options>
MakeOptimizer grouped(Options options) {
  return [options](const Tensors& p) {
    auto second = std::make_unique<Options>(options);
    second->lr(0.02);
    return std::make_unique<O>(groups(p, std::move(second)), options);
  };
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

std::string name_of_case(const ::testing::TestParamInfo<Fixture>& info) {
  return info.param.name + "_" + name_of(info.param.dtype);
}
INSTANTIATE_TEST_SUITE_P(Optimizers, AgreesWithPyTorch, ::testing::ValuesIn(fixtures(false)),
                         name_of_case);

/// Calls step() of a scheduler, for ReduceLROnPlateau with a metric of the epoch.
using StepScheduler = std::function<void(int64_t epoch)>;
using MakeScheduler = std::function<StepScheduler(Optimizer&)>;

template <class S, class... Args>
MakeScheduler scheduler(Args... args) {
  return [=](Optimizer& optimizer) -> StepScheduler {
    const auto instance = std::make_shared<S>(optimizer, args...);
    if constexpr (std::is_same_v<S, ReduceLROnPlateau>)
      return
          [instance](int64_t e) { instance->step(1.0 / double(1 + e) + (e % 5 == 0 ? 0.25 : 0)); };
    else
      return [instance](int64_t) { instance->step(); };
  };
}

StepScheduler chained(Optimizer& optimizer) {
  const auto first = std::make_shared<LinearLR>(optimizer, 0.1, 1.0, 10);
  const auto second = std::make_shared<CosineAnnealingLR>(optimizer, 30, 1e-3);
  return [first, second](int64_t) {
    first->step();
    second->step();
  };
}

const std::map<std::string, MakeScheduler>& schedulers() {
  using Factor = LambdaLR::Factor;
  using P = ReduceLROnPlateau;
  const Factor falling = [](int64_t e) { return 1.0 / double(1 + e); };
  const Factor turning = [](int64_t e) { return double(1 + e % 3); };
  static const std::map<std::string, MakeScheduler> all{
      {"step", scheduler<StepLR>(4, 0.5)},
      {"multi_step", scheduler<MultiStepLR>(std::vector<int64_t>{3, 8, 8, 30}, 0.3)},
      {"exponential", scheduler<ExponentialLR>(0.97)},
      {"cosine", scheduler<CosineAnnealingLR>(12, 0.004)},
      {"cosine_to_zero", scheduler<CosineAnnealingLR>(1000)},
      {"linear", scheduler<LinearLR>()},
      {"linear_down", scheduler<LinearLR>(1.0, 0.2, 40)},
      {"lambda", scheduler<LambdaLR>([](int64_t e) { return std::pow(0.95, double(e)); })},
      {"lambdas", scheduler<LambdaLR>(std::vector<Factor>{falling, turning})},
      {"one_cycle", scheduler<OneCycleLR>(0.3, 1000)},
      {"one_cycle_adam", scheduler<OneCycleLR>(0.3, 1000)},
      {"one_cycle_linear", scheduler<OneCycleLR>(OneCycleLROptions({0.3, 0.5})
                                                     .epochs(100)
                                                     .steps_per_epoch(10)
                                                     .pct_start(0.2)
                                                     .anneal_strategy("linear")
                                                     .base_momentum(0.8)
                                                     .max_momentum({0.9, 0.99})
                                                     .div_factor(10)
                                                     .final_div_factor(100))},
      {"one_cycle_three_phases",
       scheduler<OneCycleLR>(
           OneCycleLROptions(0.3).total_steps(1000).three_phase(true).cycle_momentum(false))},
      {"plateau", scheduler<P>(P::min, 0.5, 3, 1e-4, P::rel, 2)},
      {"plateau_max", scheduler<P>(P::max, 0.7, 2, 0.01, P::abs, 0, PerGroup{1e-3, 2e-3})},
      {"chained", chained},
  };
  return all;
}

class ScheduleAgreesWithPyTorch : public ::testing::TestWithParam<Fixture> {};

TEST_P(ScheduleAgreesWithPyTorch, ForAThousandEpochs) {
  const Fixture& fixture = GetParam();
  const Tensors params{zeros({1}), zeros({1})};
  const MakeOptimizer make = fixture.name == "one_cycle_adam"
                                 ? grouped<Adam>(AdamOptions(0.1))
                                 : grouped<SGD>(SGDOptions(0.1).momentum(0.9));
  const OptimizerPtr optimizer = make(params);
  const StepScheduler step = schedulers().at(fixture.name)(*optimizer);
  for (int64_t epoch = 0; epoch <= 1000; ++epoch) {
    if (const auto wanted = fixture.steps.find(epoch); wanted != fixture.steps.end()) {
      std::vector<double> got;
      for (const auto& group : optimizer->param_groups()) got.push_back(group.options().get_lr());
      for (const auto& group : optimizer->param_groups())
        got.push_back(group.options().get_momentum().value());
      for (size_t i = 0; i < wanted->second.size(); ++i)
        EXPECT_NEAR(got.at(i), wanted->second[i], 1e-9 * std::fabs(wanted->second[i]) + 1e-15)
            << fixture.name << " epoch " << epoch << " value " << i;
    }
    if (epoch < 1000) step(epoch);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedulers, ScheduleAgreesWithPyTorch, ::testing::ValuesIn(fixtures(true)),
                         name_of_case);

std::vector<Fixture> fixtures(bool schedules) {
  std::ifstream file(fixture_path("optim_cases.txt"));
  std::vector<Fixture> wanted;
  bool selected = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, name, dtype;
    words >> first;
    if (first == "case") {
      words >> name >> dtype;
      selected = (schedulers().count(name) > 0) == schedules;
      if (selected) wanted.push_back({name, dtype == "float32" ? kFloat : kDouble, {}});
    } else if (selected) {
      std::vector<double>& values = wanted.back().steps[std::stoll(first)];
      for (double value; words >> value;) values.push_back(value);
    }
  }
  return wanted;
}

TEST(OptimFixtures, CoverEveryOptimizerAndScheduler) {
  EXPECT_EQ(fixtures(false).size(), 2 * optimizers().size());
  EXPECT_EQ(fixtures(true).size(), schedulers().size());
}

}  // namespace
}  // namespace hearth::testing
