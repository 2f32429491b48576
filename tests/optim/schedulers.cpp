// Arguments, states and errors of schedulers. schedule_agreement.cpp compares the learning
// rates.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/optim/optim.h"
#include "tests/optim/support.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using namespace optim;
using Doubles = std::vector<double>;

struct OneGroup {
  SGD optimizer{{leaf({0}, {})}, SGDOptions(0.5).momentum(0.9)};
  double lr() { return optimizer.param_groups()[0].options().get_lr(); }
};

TEST(Schedulers, ReportTheLastLearningRate) {
  OneGroup one;
  ExponentialLR scheduler(one.optimizer, 0.5);
  EXPECT_EQ(scheduler.get_last_lr(), Doubles{0.5});
  scheduler.step();
  EXPECT_EQ(scheduler.get_last_lr(), Doubles{0.25});
  EXPECT_EQ(scheduler.last_epoch(), 1);
}

TEST(Schedulers, ShareTheInitialLearningRate) {
  OneGroup one;
  LinearLR warmup(one.optimizer, 0.1, 1, 10);
  EXPECT_DOUBLE_EQ(one.lr(), 0.05);
  EXPECT_EQ(one.optimizer.param_groups()[0].initial_lr(), 0.5);
  LambdaLR second(one.optimizer, [](int64_t) { return 2.0; });
  EXPECT_DOUBLE_EQ(one.lr(), 1);
}

/// A scheduler as user code for LibTorch defines it.
class Quartering : public LRScheduler {
 public:
  explicit Quartering(Optimizer& optimizer) : LRScheduler(optimizer) {}
  std::vector<unsigned> step_counts;

 private:
  std::vector<double> get_lrs() override {
    step_counts.push_back(step_count_);
    std::vector<double> rates = get_current_lrs();
    for (double& rate : rates) rate /= 4;
    return rates;
  }
};

TEST(Schedulers, SupportUserDefinedSchedulers) {
  OneGroup one;
  Quartering scheduler(one.optimizer);
  EXPECT_EQ(one.lr(), 0.5) << "nothing happens before the first step";
  scheduler.step();
  scheduler.step();
  EXPECT_EQ(one.lr(), 0.5 / 16);
  EXPECT_EQ(scheduler.step_counts, (std::vector<unsigned>{0, 1}));
}

TEST(Schedulers, RejectInvalidArguments) {
  OneGroup one;
  Optimizer& o = one.optimizer;
  EXPECT_ERROR(StepLR(o, 0), "Expected positive integer step_size, but got 0");
  EXPECT_ERROR(
      LinearLR(o, 0),
      "Starting multiplicative factor expected to be greater than 0 and less or equal to 1.");
  EXPECT_ERROR(LinearLR(o, 1, 2), "Ending multiplicative factor expected to be between 0 and 1.");
  EXPECT_ERROR(CosineAnnealingLR(o, 0), "Expected positive integer T_max");
  EXPECT_ERROR(LambdaLR(o, std::vector<LambdaLR::Factor>(2, [](int64_t) { return 1.0; })),
               "Expected 1 lr_lambdas, but got 2");
  EXPECT_ERROR(ReduceLROnPlateau(o, ReduceLROnPlateau::min, 1.0), "Factor should be < 1.0.");
  OneGroup fresh;
  EXPECT_ERROR(StepLR(fresh.optimizer, 1, 0.1, 3),
               "param 'initial_lr' is not specified in param_groups[0]");
  EXPECT_ERROR(OneCycleLR(o, OneCycleLROptions(1)),
               "You must define either total_steps OR (epochs AND steps_per_epoch)");
  EXPECT_ERROR(OneCycleLR(o, 1, 0), "Expected positive integer total_steps, but got 0");
  EXPECT_ERROR(OneCycleLR(o, {1, 2}, 5), "max_lr has 2 values, param_groups has 1.");
  EXPECT_ERROR(OneCycleLR(o, OneCycleLROptions(1).total_steps(5).pct_start(2)),
               "Expected float between 0 and 1 pct_start, but got 2");
  EXPECT_ERROR(OneCycleLR(o, OneCycleLROptions(1).total_steps(5).anneal_strategy("sine")),
               "anneal_strategy must be one of 'cos' or 'linear', instead got sine");
  Adagrad without_momentum({leaf({0}, {})});
  EXPECT_ERROR(OneCycleLR(without_momentum, 1, 5),
               "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
}

TEST(Schedulers, RejectInvalidFactors) {
  OneGroup one;
  Optimizer& o = one.optimizer;
  for (const double factor : {-0.1, 1.1})
    EXPECT_ERROR(ConstantLR(o, factor),
                 "Constant multiplicative factor expected to be between 0 and 1.");
  using Factor = MultiplicativeLR::Factor;
  EXPECT_ERROR(MultiplicativeLR(o, std::vector<Factor>(3, [](int64_t) { return 1.0; })),
               "Expected 1 lr_lambdas, but got 3");
  EXPECT_ERROR(MultiplicativeLR(o, Factor()), "lr_lambda should be a function, but got");
  EXPECT_ERROR(LambdaLR(o, Factor()), "lr_lambda should be a function, but got");
}

TEST(Schedulers, RejectInvalidRestarts) {
  OneGroup one;
  using Restarts = CosineAnnealingWarmRestarts;
  EXPECT_ERROR(Restarts(one.optimizer, 0), "Expected positive integer T_0, but got 0");
  EXPECT_ERROR(Restarts(one.optimizer, -4), "Expected positive integer T_0, but got -4");
  EXPECT_ERROR(Restarts(one.optimizer, 4, 0), "Expected integer T_mult >= 1, but got 0");
  Restarts scheduler(one.optimizer, 4);
  EXPECT_ERROR(scheduler.step(-1), "Expected non-negative epoch, but got -1");
  EXPECT_ERROR(scheduler.step(std::nan("")), "Expected non-negative epoch, but got nan");
  EXPECT_EQ(scheduler.last_epoch(), 0);
}

TEST(Schedulers, RejectInvalidCycles) {
  OneGroup one;
  Optimizer& o = one.optimizer;
  const CyclicLROptions options(0.1, 1);
  EXPECT_ERROR(CyclicLR(o, CyclicLROptions(options).mode("square")),
               "mode is invalid and scale_fn is None");
  EXPECT_ERROR(CyclicLR(o, {0.1, 0.2}, 1),
               "base_lr must have the same length as optimizer.param_groups. base_lr has 2 values, "
               "param_groups has 1.");
  EXPECT_ERROR(CyclicLR(o, 0.1, {1, 2}), "max_lr has 2 values, param_groups has 1.");
  EXPECT_ERROR(CyclicLR(o, CyclicLROptions(options).base_momentum({0.1, 0.2})),
               "base_momentum has 2 values, param_groups has 1.");
  EXPECT_ERROR(CyclicLR(o, CyclicLROptions(options).max_momentum({0.1, 0.2})),
               "max_momentum has 2 values, param_groups has 1.");
  EXPECT_ERROR(CyclicLR(o, 0.1, 1, 0), "Expected positive integer step_size_up, but got 0");
  EXPECT_ERROR(CyclicLR(o, CyclicLROptions(options).step_size_down(-1)),
               "Expected non-negative integer step_size_down, but got -1");
  Adagrad without_momentum({leaf({0}, {})});
  EXPECT_ERROR(CyclicLR(without_momentum, options),
               "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
  const CyclicLR cycle(without_momentum, CyclicLROptions(options).cycle_momentum(false));
  EXPECT_EQ(cycle.get_last_lr(), Doubles{0.1});
}

TEST(Schedulers, RejectDivisionsByZero) {
  OneGroup one;
  ConstantLR zero_factor(one.optimizer, 0, 1);
  EXPECT_ERROR(zero_factor.step(), "division by zero: factor is 0");
  LinearLR linear(one.optimizer, 0.5, 1, 0);
  linear.step();
  EXPECT_ERROR(linear.step(3), "division by zero: total_iters is 0");
  PolynomialLR polynomial(one.optimizer, 0);
  polynomial.step();
  EXPECT_ERROR(polynomial.step(3), "division by zero: total_iters is 0");
  PolynomialLR negative(one.optimizer, 2, -1);
  negative.step();
  EXPECT_ERROR(negative.step(), "0.0 cannot be raised to a negative power");
}

TEST(Schedulers, GoToEpochs) {
  OneGroup one;
  ExponentialLR scheduler(one.optimizer, 0.5);
  scheduler.step(3);
  EXPECT_EQ(one.lr(), 0.0625);
  EXPECT_EQ(scheduler.last_epoch(), 3);
  EXPECT_ERROR(scheduler.step(1.5), "Expected an integer epoch, but got 1.5");
  EXPECT_EQ(scheduler.last_epoch(), 3);
}

TEST(Schedulers, OneCycleThrowsAfterTotalSteps) {
  OneGroup one;
  OneCycleLR scheduler(one.optimizer, 1, 3);
  for (int i = 0; i < 3; ++i) scheduler.step();
  EXPECT_ERROR(scheduler.step(), "Tried to step 4 times. The specified number of total steps is 3");
}

TEST(Schedulers, RejectGroupsAddedLater) {
  OneGroup one;
  LambdaLR scheduler(one.optimizer, [](int64_t) { return 1.0; });
  MultiplicativeLR multiplicative(one.optimizer, [](int64_t) { return 1.0; });
  one.optimizer.add_param_group(OptimizerParamGroup({leaf({1}, {})}));
  EXPECT_ERROR(scheduler.step(),
               "Number of learning rates not equal to the number of param groups");
  EXPECT_ERROR(multiplicative.step(),
               "Number of lr_lambdas not equal to the number of param groups");
}

TEST(Schedulers, ResumeFromStateDict) {
  OneGroup one, other;
  OneCycleLR first(one.optimizer, OneCycleLROptions(1).total_steps(20));
  for (int i = 0; i < 7; ++i) first.step();
  OneCycleLR second(other.optimizer, OneCycleLROptions(0.3).total_steps(5));
  second.load_state_dict(first.state_dict());
  other.optimizer.load_state_dict(one.optimizer.state_dict());
  EXPECT_EQ(second.last_epoch(), 7);
  for (int i = 0; i < 13; ++i) {
    EXPECT_EQ(one.lr(), other.lr());
    first.step();
    second.step();
  }
}

/// Expects an error for the scheduler's own state with one value replaced, and an unchanged
/// scheduler.
template <class Scheduler>
void expect_rejects(Scheduler& scheduler, const std::string& key, IValue value,
                    const std::string& text) {
  const StateDict before = scheduler.state_dict();
  StateDict dict = before;
  dict.insert("last_epoch", 77);
  dict.insert(key, std::move(value));
  EXPECT_ERROR(scheduler.load_state_dict(dict), text);
  EXPECT_EQ(scheduler.last_epoch(), before["last_epoch"].toInt()) << key;
  EXPECT_EQ(scheduler.state_dict().size(), before.size()) << key;
  scheduler.load_state_dict(scheduler.state_dict());  // the valid state is accepted
}

TEST(Schedulers, RejectInvalidStates) {
  OneGroup one;
  Optimizer& o = one.optimizer;
  StepLR step(o, 2);
  expect_rejects(step, "step_size", 0, "Expected positive integer step_size, but got 0");
  expect_rejects(step, "base_lrs.1", 0.5, "Number of learning rates given: 2");
  expect_rejects(step, "gamma", "half", "Expected Double but got String");
  step.step();
  EXPECT_EQ(step.last_epoch(), 1);
  CosineAnnealingLR cosine(o, 5);
  expect_rejects(cosine, "T_max", 0, "Expected positive integer T_max, but got 0");
  LinearLR linear(o);
  expect_rejects(linear, "start_factor", 0.0, "Starting multiplicative factor");
  OneCycleLR cycle(o, 1, 10);
  expect_rejects(cycle, "total_steps", 0, "Expected positive integer total_steps, but got 0");
  expect_rejects(cycle, "max_lr.1", 1.0, "Number of learning rates given: 2");
  expect_rejects(cycle, "base_momentum.1", 0.5, "Number of momentums given: 2");
  expect_rejects(cycle, "anneal_strategy", "sine", "anneal_strategy must be one of");
  ConstantLR constant(o);
  expect_rejects(constant, "factor", 2.0, "Constant multiplicative factor expected");
  CosineAnnealingWarmRestarts restarts(o, 3);
  expect_rejects(restarts, "T_0", 0, "Expected positive integer T_0, but got 0");
  expect_rejects(restarts, "T_i", 0.0, "Expected positive T_i, but got 0");
  CyclicLR cyclic(o, 0.1, 1);
  expect_rejects(cyclic, "mode", "square", "mode is invalid and scale_fn is None");
  expect_rejects(cyclic, "step_ratio", 0.0,
                 "Expected positive total_size and a step_ratio up to 1");
  expect_rejects(cyclic, "max_lrs.1", 1.0, "Number of learning rates given: 2");
  expect_rejects(cyclic, "max_momentums.1", 1.0, "Number of momentums given: 2");
  ReduceLROnPlateau plateau(o);
  expect_rejects(plateau, "mode", 7, "mode 7 is unknown!");
}

TEST(Schedulers, RejectStatesOfOtherSchedulersCompletely) {
  OneGroup one;
  ExponentialLR exponential(one.optimizer, 0.5);
  for (int i = 0; i < 3; ++i) exponential.step();
  StepLR step(one.optimizer, 2);
  EXPECT_ERROR(step.load_state_dict(exponential.state_dict()), "Key 'step_size' is not defined");
  EXPECT_EQ(step.last_epoch(), 0);
}

TEST(Schedulers, RejectStatesWithMoreGroups) {
  OneGroup one;
  std::vector<OptimizerParamGroup> groups;
  for (int i = 0; i < 2; ++i) groups.emplace_back(Tensors{leaf({1}, {})});
  SGD two(groups, SGDOptions(1));
  const auto half = [](int64_t) { return 0.5; };
  LambdaLR large(two, half), small(one.optimizer, half);
  one.optimizer.add_param_group(OptimizerParamGroup({leaf({1}, {})}));
  EXPECT_ERROR(small.load_state_dict(large.state_dict()), "Expected 2 lr_lambdas, but got 1");
}

TEST(Schedulers, ResumeFromALastEpoch) {
  OneGroup one, other;
  StepLR first(one.optimizer, 3, 0.5);
  for (int i = 0; i < 4; ++i) first.step();
  other.optimizer.load_state_dict(one.optimizer.state_dict());
  StepLR second(other.optimizer, 3, 0.5, 3);
  EXPECT_EQ(second.last_epoch(), 4);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(one.lr(), other.lr());
    first.step();
    second.step();
  }
}

TEST(Schedulers, PlateauIsPartOfTheState) {
  OneGroup one;
  ReduceLROnPlateau first(one.optimizer, ReduceLROnPlateau::min, 0.5, 2);
  EXPECT_FALSE(first.state_dict().contains("best")) << "an infinite value is not saved";
  for (const double metric : {3.0, 2.0, 2.0, 2.0}) first.step(metric);
  ReduceLROnPlateau second(one.optimizer);
  second.load_state_dict(first.state_dict());
  EXPECT_EQ(second.num_bad_epochs(), 2);
  EXPECT_EQ(second.state_dict()["best"].toDouble(), 2);
  second.step(2);
  EXPECT_EQ(one.lr(), 0.25);
  LRScheduler& base = second;
  EXPECT_ERROR(base.step(), "missing 1 required positional argument: 'metrics'");
}

TEST(Schedulers, PlateauKeepsABestValueThatNothingExceeds) {
  OneGroup one;
  ReduceLROnPlateau first(one.optimizer, ReduceLROnPlateau::min, 0.5, 5);
  first.step(-std::numeric_limits<double>::infinity());
  ReduceLROnPlateau second(one.optimizer);
  second.load_state_dict(first.state_dict());
  second.step(1);
  EXPECT_EQ(second.num_bad_epochs(), 1);
  ReduceLROnPlateau finite(one.optimizer);
  finite.step(0.5);
  second.load_state_dict(finite.state_dict());
  EXPECT_EQ(second.state_dict()["best"].toDouble(), 0.5);
}

TEST(Schedulers, SupportLibTorchsPlateauScheduler) {
  OneGroup one;
  ReduceLROnPlateauScheduler scheduler(
      one.optimizer, ReduceLROnPlateauScheduler::SchedulerMode::min, 0.5F, 0, 1e-4,
      ReduceLROnPlateauScheduler::ThresholdMode::rel, 0, std::vector<float>{0.25F}, 1e-8, false);
  for (int i = 0; i < 4; ++i) scheduler.step(1.0F);
  EXPECT_EQ(one.lr(), 0.25);
}

}  // namespace
}  // namespace hearth::testing
