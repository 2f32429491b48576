// What schedulers refuse, remember and save; their rates are compared in agreement.cpp.
#include <gtest/gtest.h>

#include "hearth/optim/optim.h"
#include "tests/optim/support.h"

namespace hearth::testing {
namespace {

using namespace optim;
using Doubles = std::vector<double>;

struct OneGroup {
  SGD optimizer{{leaf({0}, {})}, SGDOptions(0.5).momentum(0.9)};
  double lr() { return optimizer.param_groups()[0].options().get_lr(); }
};

template <class F>
void expect_says(F call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "should have said: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(Schedulers, TellTheirLastRate) {
  OneGroup one;
  ExponentialLR scheduler(one.optimizer, 0.5);
  EXPECT_EQ(scheduler.get_last_lr(), Doubles{0.5});
  scheduler.step();
  EXPECT_EQ(scheduler.get_last_lr(), Doubles{0.25});
  EXPECT_EQ(scheduler.last_epoch(), 1);
}

TEST(Schedulers, TheFirstOneSetsTheInitialRateOfAll) {
  OneGroup one;
  LinearLR warmup(one.optimizer, 0.1, 1, 10);
  EXPECT_DOUBLE_EQ(one.lr(), 0.05);
  EXPECT_EQ(one.optimizer.param_groups()[0].initial_lr(), 0.5);
  LambdaLR second(one.optimizer, [](int64_t) { return 2.0; });
  EXPECT_DOUBLE_EQ(one.lr(), 1);
}

/// A subclass as LibTorch's programs write it.
class Quartering : public LRScheduler {
 public:
  explicit Quartering(Optimizer& optimizer) : LRScheduler(optimizer) {}
  std::vector<unsigned> seen;

 private:
  std::vector<double> get_lrs() override {
    seen.push_back(step_count_);
    std::vector<double> rates = get_current_lrs();
    for (double& rate : rates) rate /= 4;
    return rates;
  }
};

TEST(Schedulers, OneOfOnesOwn) {
  OneGroup one;
  Quartering scheduler(one.optimizer);
  EXPECT_EQ(one.lr(), 0.5) << "nothing happens before the first step";
  scheduler.step();
  scheduler.step();
  EXPECT_EQ(one.lr(), 0.5 / 16);
  EXPECT_EQ(scheduler.seen, (std::vector<unsigned>{0, 1}));
}

TEST(Schedulers, RefuseArguments) {
  OneGroup one;
  Optimizer& o = one.optimizer;
  expect_says([&] { StepLR(o, 0); }, "Expected positive integer step_size, but got 0");
  expect_says(
      [&] { LinearLR(o, 0); },
      "Starting multiplicative factor expected to be greater than 0 and less or equal to 1.");
  expect_says([&] { LinearLR(o, 1, 2); },
              "Ending multiplicative factor expected to be between 0 and 1.");
  expect_says([&] { CosineAnnealingLR(o, 0); }, "Expected positive integer T_max");
  expect_says([&] { LambdaLR(o, std::vector<LambdaLR::Factor>(2, [](int64_t) { return 1.0; })); },
              "Expected 1 lr_lambdas, but got 2");
  expect_says([&] { ReduceLROnPlateau(o, ReduceLROnPlateau::min, 1.0); },
              "Factor should be < 1.0.");
  OneGroup fresh;
  expect_says([&] { StepLR(fresh.optimizer, 1, 0.1, 3); },
              "param 'initial_lr' is not specified in param_groups[0]");
  expect_says([&] { OneCycleLR(o, OneCycleLROptions(1)); },
              "You must define either total_steps OR (epochs AND steps_per_epoch)");
  expect_says([&] { OneCycleLR(o, 1, 0); }, "Expected positive integer total_steps, but got 0");
  expect_says([&] { OneCycleLR(o, {1, 2}, 5); }, "max_lr has 2 values, param_groups has 1.");
  expect_says([&] { OneCycleLR(o, OneCycleLROptions(1).total_steps(5).pct_start(2)); },
              "Expected float between 0 and 1 pct_start, but got 2");
  expect_says([&] { OneCycleLR(o, OneCycleLROptions(1).total_steps(5).anneal_strategy("sine")); },
              "anneal_strategy must be one of 'cos' or 'linear', instead got sine");
  Adagrad without({leaf({0}, {})});
  expect_says([&] { OneCycleLR(without, 1, 5); },
              "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
}

TEST(Schedulers, OneCycleEnds) {
  OneGroup one;
  OneCycleLR scheduler(one.optimizer, 1, 3);
  for (int i = 0; i < 3; ++i) scheduler.step();
  expect_says([&] { scheduler.step(); },
              "Tried to step 4 times. The specified number of total steps is 3");
}

TEST(Schedulers, GroupsAddedLaterAreNoticed) {
  OneGroup one;
  LambdaLR scheduler(one.optimizer, [](int64_t) { return 1.0; });
  one.optimizer.add_param_group(OptimizerParamGroup({leaf({1}, {})}));
  expect_says([&] { scheduler.step(); },
              "Number of learning rates not equal to the number of param groups");
}

TEST(Schedulers, AStateDictGoesOnWhereItWas) {
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

TEST(Schedulers, APlateauIsRemembered) {
  OneGroup one;
  ReduceLROnPlateau first(one.optimizer, ReduceLROnPlateau::min, 0.5, 2);
  EXPECT_FALSE(first.state_dict().contains("best")) << "infinite";
  for (const double metric : {3.0, 2.0, 2.0, 2.0}) first.step(metric);
  ReduceLROnPlateau second(one.optimizer);
  second.load_state_dict(first.state_dict());
  EXPECT_EQ(second.num_bad_epochs(), 2);
  EXPECT_EQ(second.state_dict()["best"].toDouble(), 2);
  second.step(2);
  EXPECT_EQ(one.lr(), 0.25);
  LRScheduler& base = second;
  expect_says([&] { base.step(); }, "missing 1 required positional argument: 'metrics'");
}

TEST(Schedulers, LibTorchsPlateau) {
  OneGroup one;
  ReduceLROnPlateauScheduler scheduler(
      one.optimizer, ReduceLROnPlateauScheduler::SchedulerMode::min, 0.5F, 0, 1e-4,
      ReduceLROnPlateauScheduler::ThresholdMode::rel, 0, std::vector<float>{0.25F}, 1e-8, false);
  for (int i = 0; i < 4; ++i) scheduler.step(1.0F);
  EXPECT_EQ(one.lr(), 0.25);
}

}  // namespace
}  // namespace hearth::testing
