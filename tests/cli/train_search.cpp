// Random search and successive halving of hearth train.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

using Flags = std::vector<std::string>;

RunResult search(const std::string& out, const Flags& more) {
  Flags arguments{"--out", out, "--model", "mlp", "--limit", "60", "--optimizer", "sgd"};
  for (const Flags& flag : {Flags{"--lr", "1e-4..1e-1:log"}, Flags{"--batch-size", "30"}})
    if (std::ranges::find(more, flag[0]) == more.end())
      arguments.insert(arguments.end(), flag.begin(), flag.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return train(arguments);
}

/// The learning rate of each run, in the order of the runs.
std::vector<double> rates_of(const std::string& out) {
  std::vector<double> rates;
  for (const Row& row : rows_of(out))
    if (row.at("epoch") == "1") rates.push_back(number(row, "lr"));
  return rates;
}

/// The number of epochs of each run.
std::vector<int> epochs_of(const std::string& out) {
  std::vector<int> epochs;
  for (const Row& row : rows_of(out)) {
    epochs.resize(static_cast<size_t>(number(row, "run")));
    ++epochs.back();
  }
  return epochs;
}

TEST(TrainSearch, TrialsAreDrawnFromTheRangeByTheSeed) {
  const TempFolder folder;
  const std::string out = folder.path("out"), again = folder.path("again"),
                    other = folder.path("other");
  const RunResult ran = search(out, {"--epochs", "1", "--trials", "12"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  ASSERT_EQ(search(again, {"--epochs", "1", "--trials", "12"}).status, 0);
  ASSERT_EQ(search(other, {"--epochs", "1", "--trials", "12", "--seed", "1"}).status, 0);
  const std::vector<double> rates = rates_of(out);
  EXPECT_EQ(std::set<double>(rates.begin(), rates.end()).size(), 12U);
  EXPECT_EQ(results_of(again), results_of(out));
  EXPECT_NE(rates_of(other), rates);
  // The logarithms are uniform: about a third of the rates in each power of ten.
  for (const double low : {1e-4, 1e-3, 1e-2}) {
    const auto count = std::ranges::count_if(
        rates, [low](double rate) { return rate >= low && rate <= 10 * low; });
    EXPECT_GE(count, 1) << low;
    EXPECT_LE(count, 8) << low;
  }
  // The table has the best run first.
  std::vector<double> accuracies;
  for (const Row& row : rows_of(out)) accuracies.push_back(number(row, "test_accuracy"));
  const auto best = std::ranges::max_element(accuracies) - accuracies.begin();
  const std::string first_row = ran.out.substr(ran.out.find('\n', ran.out.find("run")) + 1);
  EXPECT_EQ(std::stoi(first_row), best + 1) << ran.out;
}

TEST(TrainSearch, HalvingTrainsTheBestThirdLonger) {
  const TempFolder folder;
  const std::string out = folder.path("out"), all = folder.path("all");
  const Flags flags{"--epochs", "3", "--trials", "9"};
  Flags halving = flags;
  halving.insert(halving.end(), {"--search", "halving"});
  const RunResult ran = search(out, halving);
  ASSERT_EQ(ran.status, 0) << ran.err;
  ASSERT_EQ(search(all, flags).status, 0);
  // Of nine runs, three go on after the first stage.
  std::vector<int> epochs = epochs_of(out);
  std::vector<int> sorted = epochs;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, (std::vector<int>{1, 1, 1, 1, 1, 1, 3, 3, 3}));
  // The results equal those without halving, and the best run goes on.
  std::vector<Row> whole = results_of(all);
  double best = -1;
  int best_run = 0;
  for (const Row& row : results_of(out)) {
    const auto same = std::ranges::find_if(whole, [&](const Row& other) {
      return other.at("run") == row.at("run") && other.at("epoch") == row.at("epoch");
    });
    ASSERT_NE(same, whole.end());
    EXPECT_EQ(same->at("loss"), row.at("loss"));
    if (number(row, "epoch") <= 1 && number(row, "test_accuracy") > best) {
      best = number(row, "test_accuracy");
      best_run = static_cast<int>(number(row, "run"));
    }
  }
  EXPECT_EQ(epochs[static_cast<size_t>(best_run - 1)], 3);
  EXPECT_EQ(rows_of(out)[0].at("status") == "eliminated", epochs[0] == 1);
}

TEST(TrainSearch, TableShowsTheAccuracyByWhichItIsSorted) {
  const TempFolder folder;
  const RunResult ran = search(folder.path("out"), {"--epochs", "3", "--trials", "9", "--search",
                                                    "halving", "--lr", "1e-3..1:log"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::istringstream lines(ran.out.substr(ran.out.find("run")));
  std::string line;
  std::getline(lines, line);
  EXPECT_NE(line.find("test accuracy    best"), std::string::npos) << ran.out;
  const size_t end = line.find("best") + 4;  // numbers are aligned right
  double before = 1;
  bool was_eliminated = false;
  while (std::getline(lines, line) && !line.empty()) {
    const bool is_eliminated = line.find("eliminated") != std::string::npos;
    EXPECT_TRUE(is_eliminated || !was_eliminated) << ran.out;
    const double best = std::stod(line.substr(end - 6, 6));
    EXPECT_LE(best, is_eliminated == was_eliminated ? before : 1) << ran.out;
    before = best;
    was_eliminated = is_eliminated;
  }
}

TEST(TrainSearch, HalvingRefusesOtherEpochsWhenItIsResumed) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  ASSERT_EQ(search(out, {"--epochs", "3", "--trials", "9", "--search", "halving"}).status, 0);
  const RunResult more = run({"train", "--resume", out, "--epochs", "9"}, kOneThread);
  EXPECT_NE(more.status, 0);
  EXPECT_NE(more.err.find("halving has chosen its runs for 3 epochs"), std::string::npos)
      << more.err;
}

TEST(TrainSearch, RangesOfBatchSizesAreFromOneToABillion) {
  const TempFolder folder;
  for (const char* sizes : {"1..1e30", "0.5..8"}) {
    const RunResult ran = search(folder.path("bad"), {"--trials", "3", "--batch-size", sizes});
    EXPECT_NE(ran.status, 0);
    EXPECT_NE(ran.err.find("is not a range of batch sizes"), std::string::npos) << ran.err;
  }
}

TEST(TrainSearch, CanBeResumed) {
  const TempFolder folder;
  const std::string out = folder.path("out"), whole = folder.path("whole");
  const Flags flags{"--epochs", "9",   "--trials",     "9", "--search", "halving",
                    "--limit",  "300", "--batch-size", "4"};
  const auto arguments = [&](const std::string& path) {
    Flags all{"train",   "--data", "synthetic", "--out",         path,
              "--model", "mlp",    "--lr",      "1e-4..1e-1:log"};
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  };
  ASSERT_EQ(run(arguments(whole), kOneThread).status, 0);
  Program program(arguments(out), kOneThread);
  wait_for_epochs(out, 4);
  program.kill(SIGINT);
  ASSERT_EQ(program.wait().status, 130);
  const RunResult resumed = run({"train", "--resume", out}, kOneThread);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(results_of(out), results_of(whole));
}

TEST(TrainSearch, MistakesAreExplained) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const auto fails = [&](const Flags& flags, int status, const std::string& error) {
    Flags all{"--out", out};
    all.insert(all.end(), flags.begin(), flags.end());
    expect_failure(train(all), status, error);
  };
  fails({"--lr", "1e-1..1e-4", "--trials", "2"}, 2,
        "'1e-1..1e-4' is empty: a range goes from its smaller to its larger number");
  fails({"--lr", "1e-4..x", "--trials", "2"}, 2, "'1e-4..x' is not a range of numbers above 0");
  fails({"--lr", "0..1", "--trials", "2"}, 2, "'0..1' is not a range of numbers above 0");
  fails({"--lr", "1e-4..1:lin", "--trials", "2"}, 2, "only ':log' may follow a range");
  fails({"--lr", ".1,1e-4..1", "--trials", "2"}, 2, "a range cannot be an item of a list");
  fails({"--lr", "1e-4..1"}, 2, "a range needs --trials");
  fails({"--trials", "2"}, 2, "--trials draws from a range");
  fails({"--search", "halving"}, 2, "--search halving needs a range");
  fails({"--lr", "1e-4..1", "--trials", "2", "--num-workers", "0,1"}, 2,
        "a search has one value of --num-workers and of --device");
  fails({"--batch-size", "3..5", "--trials", "9"}, 1, "too few different values for 9 --trials");
}

}  // namespace
}  // namespace hearth::testing
