// Arguments, states and errors of SequentialLR and ChainedScheduler. schedule_agreement.cpp
// compares the learning rates.
#include <gtest/gtest.h>

#include "hearth/optim/optim.h"
#include "tests/optim/support.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using namespace optim;
using Schedulers = SequentialLR::Schedulers;
using Ints = std::vector<int64_t>;

struct TwoOptimizers {
  SGD optimizer{{leaf({0}, {})}, SGDOptions(0.5)}, other{{leaf({0}, {})}, SGDOptions(0.5)};
  std::shared_ptr<LRScheduler> constant = std::make_shared<ConstantLR>(optimizer, 0.5, 2),
                               exponential = std::make_shared<ExponentialLR>(optimizer, 0.5),
                               of_other = std::make_shared<StepLR>(other, 2);
  double lr() { return optimizer.param_groups()[0].options().get_lr(); }
};

TEST(CompositeSchedulers, RejectInvalidLists) {
  TwoOptimizers two;
  SGD& o = two.optimizer;
  EXPECT_ERROR(SequentialLR(o, {}, {}),
               "SequentialLR expects at least one scheduler, but got no scheduler.");
  EXPECT_ERROR(ChainedScheduler({}),
               "ChainedScheduler expects at least one scheduler to be chained, but got no "
               "scheduler.");
  EXPECT_ERROR(SequentialLR(o, {two.constant, nullptr}, {2}),
               "SequentialLR at index 1 should have `optimizer` as its attribute.");
  EXPECT_ERROR(ChainedScheduler({nullptr}),
               "ChainedScheduler at index 0 should have `optimizer` as its attribute.");
  const auto plateau = std::make_shared<ReduceLROnPlateau>(o);
  const std::string text =
      " does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
      "specified when calling `step`, but got one at index 1 in the given schedulers sequence.";
  EXPECT_ERROR(SequentialLR(o, {two.constant, plateau}, {2}), "SequentialLR" + text);
  EXPECT_ERROR(ChainedScheduler({two.constant, plateau}), "ChainedScheduler" + text);
}

TEST(CompositeSchedulers, RejectSchedulersOfOtherOptimizers) {
  TwoOptimizers two;
  const std::string text =
      " expects all schedulers to belong to the same optimizer, but got scheduler StepLR at index "
      "1 has SGD, which is different from SGD.";
  EXPECT_ERROR(SequentialLR(two.optimizer, {two.constant, two.of_other}, {2}),
               "SequentialLR" + text);
  EXPECT_ERROR(ChainedScheduler({two.constant, two.of_other}), "ChainedScheduler" + text);
  EXPECT_ERROR(ChainedScheduler({two.constant}, two.other),
               "got scheduler ConstantLR at index 0 has SGD");
  EXPECT_ERROR(SequentialLR(two.other, {two.constant}, {}),
               "got scheduler ConstantLR at index 0 has SGD");
}

TEST(CompositeSchedulers, RejectWrongNumbersOfMilestones) {
  TwoOptimizers two;
  for (const Ints& milestones : {Ints{}, Ints{1, 2}})
    EXPECT_ERROR(
        SequentialLR(two.optimizer, {two.constant, two.exponential}, milestones),
        detail::str("Sequential Schedulers expects number of schedulers provided to be one "
                    "more than the number of milestone points, but got number of "
                    "schedulers 2 and the number of milestones to be equal to ",
                    milestones.size()));
  EXPECT_EQ(two.lr(), 0.25) << "an error changes nothing";
  EXPECT_EQ(two.constant->last_epoch(), 0);
}

TEST(CompositeSchedulers, StartFromTheInitialLearningRate) {
  TwoOptimizers two;
  EXPECT_EQ(two.lr(), 0.25);
  SequentialLR sequence(two.optimizer, {two.exponential, two.constant}, {3});
  EXPECT_EQ(two.lr(), 0.5) << "the constant factor waits for its milestone";
  EXPECT_EQ(two.constant->last_epoch(), -1);
  for (int i = 0; i < 3; ++i) sequence.step();
  EXPECT_EQ(two.lr(), 0.25);
  EXPECT_EQ(two.constant->last_epoch(), 0);
  EXPECT_EQ(sequence.get_last_lr(), two.constant->get_last_lr());
}

TEST(CompositeSchedulers, RejectEpochs) {
  TwoOptimizers two;
  SequentialLR sequence(two.optimizer, {two.constant, two.exponential}, {3});
  EXPECT_ERROR(sequence.step(4),
               "SequentialLR.step() takes 1 positional argument but 2 were given");
  ChainedScheduler chain({two.constant});
  EXPECT_ERROR(chain.step(4),
               "ChainedScheduler.step() takes 1 positional argument but 2 were given");
}

TEST(CompositeSchedulers, CannotStartAtMilestones) {
  TwoOptimizers two;
  const auto chain = std::make_shared<ChainedScheduler>(Schedulers{two.exponential});
  SequentialLR sequence(two.optimizer, {two.constant, chain}, {1});
  EXPECT_ERROR(sequence.step(), "ChainedScheduler cannot start at a milestone");
}

TEST(CompositeSchedulers, SaveTheirSchedulers) {
  TwoOptimizers two;
  SequentialLR sequence(two.optimizer, {two.constant, two.exponential}, {3});
  for (int i = 0; i < 5; ++i) sequence.step();
  const StateDict dict = sequence.state_dict();
  EXPECT_EQ(dict["last_epoch"].toInt(), 5);
  EXPECT_EQ(dict["milestones.0"].toInt(), 3);
  EXPECT_EQ(dict["schedulers.0.last_epoch"].toInt(), 2);
  EXPECT_EQ(dict["schedulers.1.last_epoch"].toInt(), 2);
  EXPECT_EQ(dict["schedulers.0.factor"].toDouble(), 0.5);
}

TEST(CompositeSchedulers, RejectInvalidStatesCompletely) {
  TwoOptimizers two;
  SequentialLR sequence(two.optimizer, {two.constant, two.exponential}, {3});
  const StateDict valid = sequence.state_dict();
  for (int i = 0; i < 2; ++i) sequence.step();
  const auto expect_rejected = [&](const std::string& key, IValue value, const char* text) {
    StateDict dict = valid;
    dict.insert(key, std::move(value));
    EXPECT_ERROR(sequence.load_state_dict(dict), text);
    EXPECT_EQ(sequence.last_epoch(), 2) << key;
    EXPECT_EQ(two.constant->last_epoch(), 2) << key;
  };
  expect_rejected("schedulers.0.factor", 7.0, "Constant multiplicative factor expected");
  expect_rejected("schedulers.2.last_epoch", 1, "more schedulers than SequentialLR, which has 2");
  expect_rejected("milestones.1", 7, "the number of milestones to be equal to 2");
  ChainedScheduler chain({two.constant});
  EXPECT_ERROR(sequence.load_state_dict(chain.state_dict()), "Key 'schedulers.1' is not defined");
  EXPECT_EQ(sequence.last_epoch(), 2);
  sequence.load_state_dict(valid);
  EXPECT_EQ(two.constant->last_epoch(), 0);
}

}  // namespace
}  // namespace hearth::testing
