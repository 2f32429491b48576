// The learning rates and momentums of schedulers over 1,000 epochs, compared with PyTorch's
// (tests/oracle/optim_cases.py).
#include <cmath>

#include "hearth/io/archive.h"
#include "tests/optim/fixture.h"

namespace hearth::testing {
namespace {

using namespace optim;
using Ints = std::vector<int64_t>;

/// Schedulers of one optimizer and the function that steps them.
struct Schedule {
  std::vector<std::shared_ptr<LRScheduler>> schedulers;
  std::function<void(int64_t epoch)> step;
};
using MakeSchedule = std::function<Schedule(Optimizer&)>;

/// A schedule of one scheduler. The metric of ReduceLROnPlateau falls, but rises in every fifth
/// epoch.
template <class S>
Schedule stepping(std::shared_ptr<S> scheduler) {
  if constexpr (std::is_same_v<S, ReduceLROnPlateau>)
    return {{scheduler}, [scheduler](int64_t e) {
              scheduler->step(1.0 / double(1 + e) + (e % 5 == 0 ? 0.25 : 0));
            }};
  else
    return {{scheduler}, [scheduler](int64_t) { scheduler->step(); }};
}

template <class S, class... Args>
MakeSchedule schedule(Args... args) {
  return [=](Optimizer& o) { return stepping(std::make_shared<S>(o, args...)); };
}

/// Two schedulers, both of which are stepped in each epoch.
Schedule one_after_another(Optimizer& optimizer) {
  const auto first = std::make_shared<LinearLR>(optimizer, 0.1, 1.0, 10);
  const auto second = std::make_shared<CosineAnnealingLR>(optimizer, 30, 1e-3);
  return {{first, second}, [first, second](int64_t) {
            first->step();
            second->step();
          }};
}

/// Calls step(epoch) every third time, and step() otherwise.
MakeSchedule jumping(const MakeSchedule& make) {
  return [make](Optimizer& o) -> Schedule {
    const auto scheduler = make(o).schedulers[0];
    return {{scheduler}, [scheduler](int64_t epoch) {
              epoch % 3 == 0 ? scheduler->step(double(epoch * 7 % 50)) : scheduler->step();
            }};
  };
}

/// Calls step(epoch) with fractional epochs, and every fifth time step().
MakeSchedule in_fractions(const MakeSchedule& make) {
  return [make](Optimizer& o) -> Schedule {
    const auto scheduler = make(o).schedulers[0];
    return {{scheduler}, [scheduler](int64_t epoch) {
              epoch % 5 < 4 ? scheduler->step(double(epoch) * 0.3) : scheduler->step();
            }};
  };
}

/// The second scheduler of an optimizer. The first one has set the initial learning rates.
MakeSchedule resumed(const MakeSchedule& make) {
  return [make](Optimizer& o) {
    const LambdaLR first(o, [](int64_t) { return 0.5; });
    return make(o);
  };
}

double wave(int64_t epoch) { return epoch % 2 ? 0.95 : 1.04; }
double power(int64_t epoch) { return std::pow(0.95, double(epoch)); }
double falling(int64_t epoch) { return 1.0 / double(1 + epoch); }
double turning(int64_t epoch) { return double(1 + epoch % 3); }

CyclicLROptions cycle(int64_t step_size_up) {
  return CyclicLROptions(0.01, 0.1).step_size_up(step_size_up);
}

template <class S, class... Args>
std::shared_ptr<LRScheduler> make(Optimizer& optimizer, Args... args) {
  return std::make_shared<S>(optimizer, args...);
}

using Schedulers = SequentialLR::Schedulers;
/// SequentialLR of the schedulers that a function makes.
MakeSchedule sequential(std::function<Schedulers(Optimizer&)> parts, Ints milestones) {
  return [=](Optimizer& o) {
    return stepping(std::make_shared<SequentialLR>(o, parts(o), milestones));
  };
}

Schedulers three_schedulers(Optimizer& o) {
  return {make<ConstantLR>(o, 0.1, 4), make<LinearLR>(o, 0.5, 1, 12), make<ExponentialLR>(o, 0.9)};
}

/// Schedulers that can start at a milestone.
Schedulers all_schedulers(Optimizer& o) {
  return {make<ExponentialLR>(o, 0.9),
          make<StepLR>(o, 2, 0.5),
          make<MultiStepLR>(o, Ints{0, 3, 4}, 0.5),
          make<ConstantLR>(o, 0.2, 3),
          make<LinearLR>(o),
          make<PolynomialLR>(o, 6, 2.0),
          make<CosineAnnealingLR>(o, 4, 0.001),
          make<LambdaLR>(o, falling),
          make<MultiplicativeLR>(o, wave),
          make<CosineAnnealingWarmRestarts>(o, 3, 2),
          make<CyclicLR>(o, cycle(4)),
          make<OneCycleLR>(o, 0.3, 2000)};
}

Ints every_sixth() {
  Ints milestones(11);
  for (size_t i = 0; i < milestones.size(); ++i) milestones[i] = 6 * int64_t(i + 1);
  return milestones;
}

std::shared_ptr<ChainedScheduler> chain(Optimizer& o) {
  return std::make_shared<ChainedScheduler>(Schedulers{
      make<ConstantLR>(o, 0.5, 10), make<ExponentialLR>(o, 0.99), make<PolynomialLR>(o, 500, 0.9)});
}

std::shared_ptr<SequentialLR> sequence(Optimizer& o, int64_t milestone) {
  return std::make_shared<SequentialLR>(
      o, Schedulers{make<ExponentialLR>(o, 0.8), make<StepLR>(o, 5, 0.7)}, Ints{milestone});
}

using Makers = std::map<std::string, MakeSchedule>;

Makers epoch_makers() {
  using Factor = LambdaLR::Factor;
  return {{"step", schedule<StepLR>(4, 0.5)},
          {"multi_step", schedule<MultiStepLR>(Ints{3, 8, 8, 30}, 0.3)},
          {"exponential", schedule<ExponentialLR>(0.97)},
          {"cosine", schedule<CosineAnnealingLR>(12, 0.004)},
          {"cosine_to_zero", schedule<CosineAnnealingLR>(1000)},
          {"linear", schedule<LinearLR>()},
          {"linear_down", schedule<LinearLR>(1.0, 0.2, 40)},
          {"constant", schedule<ConstantLR>()},
          {"constant_long", schedule<ConstantLR>(0.25, 20)},
          {"constant_without_end", schedule<ConstantLR>(0, -3)},
          {"polynomial", schedule<PolynomialLR>()},
          {"polynomial_power", schedule<PolynomialLR>(50, 2.5)},
          {"polynomial_never", schedule<PolynomialLR>(-3)},
          {"lambda", schedule<LambdaLR>(power)},
          {"lambdas", schedule<LambdaLR>(std::vector<Factor>{falling, turning})},
          {"multiplicative", schedule<MultiplicativeLR>(wave)},
          {"multiplicatives",
           schedule<MultiplicativeLR>(std::vector<Factor>{wave, [](int64_t) { return 0.99; }})},
          {"warm_restarts", schedule<CosineAnnealingWarmRestarts>(7)},
          {"warm_restarts_longer", schedule<CosineAnnealingWarmRestarts>(3, 2, 0.001)}};
}

Makers cycle_makers() {
  return {
      {"one_cycle", schedule<OneCycleLR>(0.3, 1000)},
      {"one_cycle_adam", schedule<OneCycleLR>(0.3, 1000)},
      {"one_cycle_linear", schedule<OneCycleLR>(OneCycleLROptions({0.3, 0.5})
                                                    .epochs(100)
                                                    .steps_per_epoch(10)
                                                    .pct_start(0.2)
                                                    .anneal_strategy("linear")
                                                    .base_momentum(0.8)
                                                    .max_momentum({0.9, 0.99})
                                                    .div_factor(10)
                                                    .final_div_factor(100))},
      {"one_cycle_three_phases",
       schedule<OneCycleLR>(
           OneCycleLROptions(0.3).total_steps(1000).three_phase(true).cycle_momentum(false))},
      {"cyclic", schedule<CyclicLR>(0.01, 0.1)},
      {"cyclic_sawtooth", schedule<CyclicLR>(cycle(5).step_size_down(0).cycle_momentum(false))},
      {"cyclic_triangular2",
       schedule<CyclicLR>(
           cycle(5).mode("triangular2").base_momentum({0.7, 0.6}).max_momentum(0.95))},
      {"cyclic_exp_range",
       schedule<CyclicLR>(cycle(4).step_size_down(6).mode("exp_range").gamma(0.98))},
      {"cyclic_scale_of_cycle",
       schedule<CyclicLR>(cycle(6).mode("other").scale_fn([](double x) { return 1 / (x + 1); }))},
      {"cyclic_scale_of_iterations",
       schedule<CyclicLR>(cycle(6)
                              .mode("triangular2")
                              .scale_fn([](double x) { return 0.5 + 0.4 * std::fmod(x, 3); })
                              .scale_mode("iterations"))}};
}

Makers makers_with_other_arguments() {
  using P = ReduceLROnPlateau;
  const MakeSchedule short_cycles = schedule<CyclicLR>(
      CyclicLROptions({0.01, 0.002}, {0.1, 0.3}).step_size_up(8).step_size_down(4));
  return {
      {"cyclic_short", short_cycles},
      {"cyclic_short_adam", short_cycles},
      {"plateau", schedule<P>(P::min, 0.5, 3, 1e-4, P::rel, 2)},
      {"plateau_max", schedule<P>(P::max, 0.7, 2, 0.01, P::abs, 0, PerGroup{1e-3, 2e-3})},
      {"swa", schedule<swa_utils::SWALR>(0.05)},
      {"swa_linear", schedule<swa_utils::SWALR>(PerGroup{0.05, 0.3}, 20, "linear")},
      {"swa_at_once", schedule<swa_utils::SWALR>(0.05, 0)},
      {"constant_resumed", resumed(schedule<ConstantLR>(0.5, 9, 3))},
      {"polynomial_resumed", resumed(schedule<PolynomialLR>(90, 1.0, 3))},
      {"multiplicative_resumed", resumed(schedule<MultiplicativeLR>(wave, 3))},
      {"cyclic_resumed", resumed(schedule<CyclicLR>(cycle(8).last_epoch(3)))},
      {"cyclic_second", resumed(schedule<CyclicLR>(0.01, 0.1, 8))},
      {"warm_restarts_resumed", resumed(schedule<CosineAnnealingWarmRestarts>(7, 2, 0.0, 3))},
      {"sequential_resumed", [](Optimizer& o) {
         return stepping(std::make_shared<SequentialLR>(o, three_schedulers(o), Ints{10, 30}, 3));
       }}};
}

Makers composite_makers() {
  return {{"one_after_another", one_after_another},
          {"chained", [](Optimizer& o) { return stepping(chain(o)); }},
          {"sequential", sequential(three_schedulers, {10, 30})},
          {"sequential_at_once", sequential(three_schedulers, {0, 5})},
          {"sequential_skipping", sequential(three_schedulers, {9, 9})},
          {"sequential_unsorted", sequential(three_schedulers, {20, 8})},
          {"sequential_of_all", sequential(all_schedulers, every_sixth())},
          {"sequential_of_one",
           sequential([](Optimizer& o) { return Schedulers{make<ConstantLR>(o, 0.1, 9)}; }, {})},
          {"sequential_of_chain", sequential(
                                      [](Optimizer& o) {
                                        return Schedulers{chain(o), make<CosineAnnealingLR>(o, 9)};
                                      },
                                      {20})},
          {"sequential_of_sequence",
           sequential(
               [](Optimizer& o) {
                 return Schedulers{sequence(o, 7), make<CosineAnnealingWarmRestarts>(o, 9)};
               },
               {20})},
          {"sequential_of_short_sequence",
           sequential(
               [](Optimizer& o) {
                 return Schedulers{sequence(o, 1), make<ExponentialLR>(o, 0.95)};
               },
               {20})},
          {"chain_of_sequence", [](Optimizer& o) {
             return stepping(std::make_shared<ChainedScheduler>(
                 Schedulers{sequence(o, 7), make<ConstantLR>(o, 0.4, 15)}));
           }}};
}

Makers jumping_makers() {
  const auto restarts = [](int64_t T_0, int64_t T_mult, double eta_min) {
    return schedule<CosineAnnealingWarmRestarts>(T_0, T_mult, eta_min);
  };
  return {{"step_jumping", jumping(schedule<StepLR>(4, 0.5))},
          {"multi_step_jumping", jumping(schedule<MultiStepLR>(Ints{3, 8, 8, 30}, 0.3))},
          {"constant_jumping", jumping(schedule<ConstantLR>(0.25, 20))},
          {"linear_jumping", jumping(schedule<LinearLR>(0.2, 0.9, 25))},
          {"exponential_jumping", jumping(schedule<ExponentialLR>(0.97))},
          {"polynomial_jumping", jumping(schedule<PolynomialLR>(40, 1.5))},
          {"cosine_jumping", jumping(schedule<CosineAnnealingLR>(12, 0.004))},
          {"lambda_jumping", jumping(schedule<LambdaLR>(power))},
          {"cyclic_jumping", jumping(schedule<CyclicLR>(cycle(8).step_size_down(4)))},
          {"warm_restarts_jumping", jumping(restarts(4, 3, 0.001))},
          {"warm_restarts_fractions", in_fractions(restarts(4, 1, 0))},
          {"warm_restarts_longer_fractions", in_fractions(restarts(2, 2, 0))}};
}

const Makers& makers() {
  static const Makers result = [] {
    Makers merged = epoch_makers();
    for (Makers more :
         {cycle_makers(), makers_with_other_arguments(), composite_makers(), jumping_makers()})
      merged.merge(more);
    return merged;
  }();
  return result;
}

/// An optimizer of two groups with the schedule of a fixture.
struct Training {
  explicit Training(const std::string& name)
      : optimizer((name.ends_with("_adam")
                       ? grouped<Adam>(AdamOptions(0.1))
                       : grouped<SGD>(SGDOptions(0.1).momentum(0.9)))({zeros({1}), zeros({1})})),
        schedule(makers().at(name)(*optimizer)) {}
  OptimizerPtr optimizer;
  Schedule schedule;
};

void expect_values(const Fixture& fixture, int64_t epoch, const Optimizer& optimizer) {
  const auto wanted = fixture.steps.find(epoch);
  if (wanted == fixture.steps.end()) return;
  std::vector<double> got;
  for (const auto& group : optimizer.param_groups()) got.push_back(group.options().get_lr());
  for (const auto& group : optimizer.param_groups())
    got.push_back(group.options().get_momentum().value());
  ASSERT_EQ(got.size(), wanted->second.size()) << fixture.name;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted->second[i], 1e-9 * std::fabs(wanted->second[i]) + 1e-15)
        << fixture.name << " epoch " << epoch << " value " << i;
}

class ScheduleAgreesWithPyTorch : public ::testing::TestWithParam<Fixture> {};

TEST_P(ScheduleAgreesWithPyTorch, ForAThousandEpochs) {
  const Fixture& fixture = GetParam();
  const Training run(fixture.name);
  for (int64_t epoch = 0; epoch <= 1000; ++epoch) {
    expect_values(fixture, epoch, *run.optimizer);
    EXPECT_EQ(run.schedule.schedulers.back()->get_last_lr()[0],
              run.optimizer->param_groups()[0].options().get_lr());
    if (epoch < 1000) run.schedule.step(epoch);
  }
}

/// Copies the state of a run, by archives or state dicts, to a new one.
std::unique_ptr<Training> resume(const Training& run, const std::string& name, bool uses_archive) {
  auto next = std::make_unique<Training>(name);
  for (size_t i = 0; i < run.schedule.schedulers.size(); ++i) {
    LRScheduler &from = *run.schedule.schedulers[i], &to = *next->schedule.schedulers[i];
    if (uses_archive) {
      serialize::OutputArchive out;
      from.save(out);
      serialize::InputArchive in(out);
      to.load(in);
    } else {
      to.load_state_dict(from.state_dict());
    }
    EXPECT_EQ(to.get_last_lr(), from.get_last_lr());
  }
  next->optimizer->load_state_dict(run.optimizer->state_dict());
  return next;
}

TEST_P(ScheduleAgreesWithPyTorch, AfterResuming) {
  const Fixture& fixture = GetParam();
  auto run = std::make_unique<Training>(fixture.name);
  for (int64_t epoch = 0; epoch <= 72; ++epoch) {
    if (epoch % 9 == 5) run = resume(*run, fixture.name, epoch % 2 == 0);
    expect_values(fixture, epoch, *run->optimizer);
    run->schedule.step(epoch);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedulers, ScheduleAgreesWithPyTorch,
                         ::testing::ValuesIn(fixtures("schedule")), name_of_case);

TEST(OptimFixtures, CoverEveryScheduler) {
  EXPECT_EQ(fixtures("schedule").size(), makers().size());
}

}  // namespace
}  // namespace hearth::testing
