// Updates of the weights by hearth train: clipping, accumulation, warm-up, smoothing, averages.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "hearth/hearth.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

/// All weights of a run in one vector.
Tensor weights_of(const std::string& out) {
  std::vector<Tensor> parts;
  for (const auto& [name, tensor] : io::load_safetensors(out + "/run-1/weights.safetensors"))
    parts.push_back(tensor.flatten().to(kDouble));
  return cat(parts);
}

/// The arguments of a run with one step of gradient descent on 100 images. `changes`, flags
/// followed by their values, replaces settings.
std::vector<std::string> descent(const std::string& out, const std::vector<std::string>& changes) {
  std::map<std::string, std::string> flags{
      {"--out", out},     {"--model", "mlp"}, {"--optimizer", "sgd"}, {"--lr", "1"},
      {"--limit", "100"}, {"--epochs", "1"},  {"--batch-size", "100"}};
  for (size_t i = 0; i < changes.size(); i += 2) flags[changes[i]] = changes[i + 1];
  std::vector<std::string> arguments{"--log-losses"};
  for (const auto& [flag, value] : flags) arguments.insert(arguments.end(), {flag, value});
  return arguments;
}

class TrainUpdate : public ::testing::Test {
 protected:
  /// Runs descent() in a new folder and returns the folder.
  std::string descended(const std::vector<std::string>& more) {
    const std::string out = folder_.path("out" + std::to_string(++runs_));
    const RunResult ran = train(descent(out, more));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return out;
  }
  Tensor weights(const std::vector<std::string>& more) { return weights_of(descended(more)); }
  /// The change of the weights in one step.
  Tensor change(const std::vector<std::string>& more) {
    return weights(more) - weights({"--epochs", "0"});
  }
  double first_loss(const std::vector<std::string>& more) {
    return number(rows_of_csv(descended(more) + "/run-1/losses.csv").at(0), "loss");
  }

  const TempFolder folder_;
  int runs_ = 0;
};

double largest(const Tensor& tensor) { return tensor.abs().max().item<double>(); }
double norm_of(const Tensor& tensor) { return tensor.norm().item<double>(); }

TEST_F(TrainUpdate, GradientsAreClipped) {
  EXPECT_NEAR(norm_of(change({"--clip-grad-norm", "0.01"})), 0.01, 1e-6);
  EXPECT_NEAR(largest(change({"--clip-grad-value", "0.001"})), 0.001, 1e-7);
  // fp16 scales the loss, which must not change the limit.
  EXPECT_NEAR(norm_of(change({"--clip-grad-norm", "0.01", "--amp", "fp16"})), 0.01, 1e-5);
}

TEST_F(TrainUpdate, AccumulatedBatchesMakeOneStep) {
  const Tensor whole = change({});
  for (const char* size : {"50", "30"}) {  // the last batch of 30 has 10 images
    const Tensor parts = change({"--batch-size", size, "--accumulate", "4"});
    EXPECT_LT(largest(parts - whole), 1e-5 * largest(whole) + 1e-7) << size;
  }
  EXPECT_EQ(
      rows_of_csv(descended({"--batch-size", "10", "--accumulate", "3"}) + "/run-1/losses.csv")
          .size(),
      4U);
}

TEST_F(TrainUpdate, WarmUpRaisesTheRate) {
  const Tensor whole = change({}), tenth = change({"--warmup-steps", "10"});
  EXPECT_LT(largest(tenth - whole / 10), 1e-7);
  EXPECT_LT(largest(change({"--warmup-steps", "1"}) - whole), 1e-9);
}

TEST_F(TrainUpdate, LabelSmoothingMixesTheLosses) {
  const double plain = first_loss({}), half = first_loss({"--label-smoothing", "0.5"}),
               uniform = first_loss({"--label-smoothing", "1"});
  EXPECT_NEAR(half, (plain + uniform) / 2, 1e-6);
  EXPECT_GT(uniform, std::log(10));  // the least cross entropy with a uniform target
}

TEST_F(TrainUpdate, MovingAverageIsSaved) {
  const std::vector<std::string> one{"--epochs", "1"}, two{"--epochs", "2"};
  const Tensor expected = 0.75 * weights(one) + 0.25 * weights(two);
  EXPECT_LT(largest(weights({"--epochs", "2", "--ema", "0.75"}) - expected), 1e-6);
}

TEST_F(TrainUpdate, LbfgsCallsTheClosureItself) {
  const std::string out =
      descended({"--optimizer", "lbfgs:max_iter=5,line_search_fn=strong_wolfe", "--epochs", "2"});
  const std::vector<Row> rows = rows_of(out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_LT(number(rows[1], "loss"), number(rows[0], "loss"));
  EXPECT_LE(number(rows[1], "accuracy"), 1);
}

TEST_F(TrainUpdate, StopsEarlyWithoutABetterAccuracy) {
  const std::string out = descended({"--lr", "1e-30", "--epochs", "9", "--patience", "2"});
  EXPECT_EQ(rows_of(out).size(), 3U);
  EXPECT_EQ(rows_of(out).back().at("status"), "stopped early");
  const RunResult again = run({"train", "--resume", out}, kOneThread);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(again.err.find("Nothing is left to do."), std::string::npos) << again.err;
  EXPECT_EQ(rows_of(out).size(), 3U);
}

TEST_F(TrainUpdate, NumbersOutOfRangeAreRefused) {
  const auto refused = [](const std::string& flag, const std::string& value,
                          const std::string& error) {
    expect_failure(train({flag, value}), 2, "hearth: " + flag + ": " + error + "\n");
  };
  refused("--clip-grad-norm", "0", "expected a number above 0, not '0'");
  refused("--clip-grad-value", "-1", "expected a number above 0, not '-1'");
  refused("--label-smoothing", "2", "expected a number from 0 to 1, not '2'");
  refused("--ema", "x", "expected a number from 0 to 1, not 'x'");
  refused("--accumulate", "0", "'0' is not a whole number from 1 to 9223372036854775807");
  refused("--patience", "0", "'0' is not a whole number from 1 to 9223372036854775807");
  refused("--warmup-steps", "-1", "'-1' is not a whole number from 0 to 9223372036854775807");
}

TEST_F(TrainUpdate, ResumesBitForBitWithAllState) {
  const auto arguments = [](const std::string& out, const char* scheduler) {
    return std::vector<std::string>{"train",
                                    "--data",
                                    "synthetic",
                                    "--out",
                                    out,
                                    "--limit",
                                    "200",
                                    "--batch-size",
                                    "2",
                                    "--epochs",
                                    "4",
                                    "--lr",
                                    ".001",
                                    "--optimizer",
                                    "sgd:momentum=0.9",
                                    "--scheduler",
                                    scheduler,
                                    "--warmup-steps",
                                    "100",
                                    "--accumulate",
                                    "3",
                                    "--clip-grad-norm",
                                    "1",
                                    "--ema",
                                    "0.9",
                                    "--patience",
                                    "3",
                                    "--log-losses",
                                    "--label-smoothing",
                                    "0.1"};
  };
  for (const char* scheduler : {"onecycle", "plateau:patience=0", "cosine"}) {
    const std::string whole = folder_.path("whole-" + std::string(scheduler)),
                      stopped = folder_.path("stopped-" + std::string(scheduler));
    ASSERT_EQ(run(arguments(whole, scheduler), kOneThread).status, 0);
    Program program(arguments(stopped, scheduler), kOneThread);
    wait_for_epochs(stopped, 1);
    program.kill(SIGINT);
    ASSERT_EQ(program.wait().status, 130);
    ASSERT_LT(rows_of(stopped).size(), 4U) << "the program was stopped too late";
    const RunResult resumed = run({"train", "--resume", stopped}, kOneThread);
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(results_of(stopped), results_of(whole));
    for (const char* file : {"weights.safetensors", "losses.csv"})
      EXPECT_TRUE(bytes_of(stopped + "/run-1/" + file) == bytes_of(whole + "/run-1/" + file))
          << file;
  }
}

TEST_F(TrainUpdate, PlannedSchedulesKeepTheirEpochs) {
  const std::string out = descended({"--scheduler", "cosine"});
  expect_failure(run({"train", "--resume", out, "--epochs", "2"}, kOneThread), 1,
                 "the schedule of this run was made for 1 epochs: resume it with --epochs 1");
  const std::string fixed = descended({"--scheduler", "cosine:T_max=5"});
  EXPECT_EQ(run({"train", "--resume", fixed, "--epochs", "2"}, kOneThread).status, 0);
}

}  // namespace
}  // namespace hearth::testing
