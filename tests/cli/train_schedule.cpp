// --optimizer and --scheduler: names, settings, and the rates that follow from them.
#include <gtest/gtest.h>

#include <cmath>

#include "apps/hearth/train/optimizers.h"
#include "apps/hearth/train/schedule.h"
#include "hearth/hearth.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

using app::make_optimizer;
using app::Schedule;

std::unique_ptr<optim::Optimizer> optimizer_of(const std::string& text) {
  return make_optimizer(text, {zeros({2, 2})}, 0.1);
}

template <class Options>
const Options& options_of(const optim::Optimizer& optimizer) {
  return dynamic_cast<const Options&>(optimizer.defaults());
}

TEST(TrainSchedule, OptimizersTakeTheirSettings) {
  const auto sgd = optimizer_of("sgd:momentum=0.9,weight_decay=5e-4,nesterov");
  EXPECT_EQ(options_of<optim::SGDOptions>(*sgd),
            optim::SGDOptions(0.1).momentum(0.9).weight_decay(5e-4).nesterov(true));
  const auto adam = optimizer_of("adamw:betas=0.8:0.99,amsgrad=true");
  EXPECT_EQ(options_of<optim::AdamWOptions>(*adam),
            optim::AdamWOptions(0.1).betas({0.8, 0.99}).amsgrad(true));
  const auto lbfgs = optimizer_of("lbfgs:max_iter=3,line_search_fn=strong_wolfe");
  EXPECT_EQ(options_of<optim::LBFGSOptions>(*lbfgs).max_iter(), 3);
  EXPECT_EQ(options_of<optim::LBFGSOptions>(*lbfgs).line_search_fn(), "strong_wolfe");
  const auto adafactor = optimizer_of("adafactor:eps=none:0.01");
  EXPECT_EQ(options_of<optim::AdafactorOptions>(*adafactor),
            optim::AdafactorOptions(0.1).eps({std::nullopt, 0.01}));
  for (const std::string& name : app::optimizer_names())
    EXPECT_EQ(optimizer_of(name)->defaults().get_lr(), 0.1) << name;
}

void expect_error(const std::string& text, const std::string& error) {
  try {
    optimizer_of(text);
    ADD_FAILURE() << text;
  } catch (const Error& thrown) {
    EXPECT_NE(std::string(thrown.what()).find(error), std::string::npos) << thrown.what();
  }
}

TEST(TrainSchedule, WrongSettingsAreExplained) {
  expect_error("sgd:momentun=0.9",
               "unknown setting of 'sgd' 'momentun'; did you mean 'momentum'? (known: lr, "
               "momentum, dampening, weight_decay, nesterov, maximize)");
  expect_error("sgd:momentum=fast", "'momentum' must be a number, not 'fast'");
  expect_error("sgd:momentum=1e999", "'momentum' must be a number, not '1e999'");
  expect_error("sgd:momentum=nan", "'momentum' must be a finite number, not 'nan'");
  expect_error("sgd:nesterov=yes", "'nesterov' must be true or false, not 'yes'");
  expect_error("lbfgs:max_iter=2.5", "'max_iter' must be a whole number, not '2.5'");
  for (const char* text : {"adam:betas=", "adam:betas=:0.9"})
    expect_error(text, "value 1 of 'betas' must be a number, not ''");
  expect_error("adam:betas", "value 1 of 'betas' must be a number, not 'true'");
  expect_error("adam:betas=0.9:nan", "value 2 of 'betas' must be a finite number, not 'nan'");
  expect_error("adam:betas=0.9:0.9:0.9", "'betas' has at most 2 values separated by colons, not 3");
  expect_error("sgd:momentum=0.9,momentum=0.8", "the setting 'momentum' is given twice");
  expect_error("sgd:", "a setting of 'sgd' has no name");
  expect_error("sgd:lr=0.5", "the learning rate is set by --lr 0.5");
  expect_error("sgd:momentum=-1", "Invalid momentum value: -1");
  expect_error("sgd:\x1b=1", "unknown setting of 'sgd' '\\x1b'");
}

/// The rates of the first steps or epochs, with 4 epochs of 2 steps.
std::vector<double> rates(const std::string& scheduler, size_t count) {
  const auto optimizer = optimizer_of("sgd:momentum=0.9");
  Schedule schedule(scheduler, *optimizer, {4, 2});
  const bool by_step = scheduler.starts_with("onecycle") || scheduler.starts_with("cyclic");
  std::vector<double> rates;
  while (rates.size() < count) {
    rates.push_back(optimizer->param_groups()[0].options().get_lr());
    by_step ? schedule.after_step() : schedule.after_epoch(0.5);
  }
  return rates;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-12) << i;
}

TEST(TrainSchedule, RatesMatchPyTorch) {
  expect_near(rates("onecycle", 8),
              {0.0040000000000000036, 0.08192751048921922, 0.09719417773875232, 0.0811745653949763,
               0.05559840141227016, 0.028306099820869922, 0.0076641593834256404, 4e-07});
  expect_near(rates("cyclic:step_size_up=3", 8), {0.01, 0.04, 0.07, 0.1, 0.07, 0.04, 0.01, 0.04});
  expect_near(
      rates("cosine-restarts:T_0=2,T_mult=2", 8),
      {0.1, 0.05, 0.1, 0.08535533905932738, 0.05, 0.014644660940672627, 0.1, 0.09619397662556434});
  expect_near(rates("polynomial:power=2", 6), {0.1, 0.05625, 0.025, 0.00625, 0, 0});
  expect_near(rates("multistep:milestones=2:5,gamma=0.5", 8),
              {0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025});
  expect_near(rates("linear", 6), {0.1, 0.075, 0.05, 0.025, 0, 0});
  expect_near(rates("exponential:gamma=0.5", 3), {0.1, 0.05, 0.025});
  expect_near(rates("step:step_size=2", 5), {0.1, 0.1, 0.01, 0.01, 0.001});
  expect_near(rates("cosine", 5),
              {0.1, 0.05 * (1 + std::sqrt(0.5)), 0.05, 0.05 * (1 - std::sqrt(0.5)), 0});
  // The accuracy never improves on that of the first epoch.
  expect_near(rates("plateau:patience=1,factor=0.5", 6), {0.1, 0.1, 0.1, 0.05, 0.05, 0.025});
  expect_near(rates("none", 2), {0.1, 0.1});
}

TEST(TrainSchedule, WrongSchedulersAreExplained) {
  const auto refused = [](const std::string& scheduler, const std::string& error) {
    expect_failure(train({"--scheduler", scheduler}), 2, "--scheduler: " + error);
  };
  refused("cosin", "unknown scheduler 'cosin'; did you mean 'cosine'?");
  refused("cosine:tmax=3", "unknown setting of 'cosine' 'tmax'; did you mean 'T_max'?");
  refused("none:gamma=3", "unknown setting of 'none' 'gamma'");
  refused("multistep", "'multistep' needs its epochs: multistep:milestones=30:60:90");
  expect_failure(train({"--scheduler", "cyclic:cycle_momentum", "--optimizer", "adagrad"}), 2,
                 "--scheduler: optimizer must support momentum");
  expect_failure(train({"--optimizer", "sgd:momentun=1"}), 2, "did you mean 'momentum'?");
}

}  // namespace
}  // namespace hearth::testing
