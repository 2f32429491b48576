// hearth train: the grid, its files, resuming after a kill or a signal.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "hearth/hearth.h"
#include "tests/cli/program.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

TEST(Train, GridAgreesAcrossDevicesAndWorkers) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const RunResult ran =
      train({"--out", out, "--limit", "1000", "--epochs", "2", "--lr", ".01", "--batch-size",
             "100,1000", "--num-workers", "0,2", "--device", "cpu,cuda"},
            {"HEARTH_SIM_GPUS=1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::vector<Row> rows = rows_of(out);
  ASSERT_EQ(rows.size(), 16U);
  const char* const grid[8] = {"100 0 cpu",  "100 0 cuda",  "100 2 cpu",  "100 2 cuda",
                               "1000 0 cpu", "1000 0 cuda", "1000 2 cpu", "1000 2 cuda"};
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(rows[i].at("run"), std::to_string(i / 2 + 1));
    EXPECT_EQ(rows[i].at("epoch"), std::to_string(i % 2 + 1));
    EXPECT_EQ(rows[i].at("lr"), "0.01");
    const Row& row = rows[i];
    EXPECT_EQ(row.at("batch_size") + " " + row.at("num_workers") + " " + row.at("device"),
              grid[i / 2]);
    const Row& first = rows[i / 8 * 8 + i % 2];
    EXPECT_NEAR(number(row, "loss"), number(first, "loss"), 1e-4);
    EXPECT_GT(number(row, "epoch_duration"), 0);
  }
  EXPECT_LT(number(rows[1], "loss"), number(rows[0], "loss"));
  EXPECT_NE(rows[0].at("loss"), rows[8].at("loss"));
  // The printed table has the last epoch of each run.
  EXPECT_EQ(ran.out.find("run  epoch"), 0U) << ran.out;
  std::istringstream lines(ran.out);
  std::string line;
  std::getline(lines, line);
  for (size_t i = 1; i <= 8; ++i) {
    std::getline(lines, line);
    EXPECT_EQ(line.find("  " + std::to_string(i) + "      2  "), 0U) << line;
  }
}

TEST(Train, WritesItsFiles) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  ASSERT_EQ(train({"--out", out, "--limit", "500", "--epochs", "2", "--log-losses"}).status, 0);
  for (const char* name : {"config.toml", "results.csv", "results.json", "curves.png"})
    EXPECT_NE(bytes_of(out + "/" + name), "") << name;
  const auto weights = io::load_safetensors(out + "/run-1/weights.safetensors");
  ASSERT_EQ(weights.size(), 10U);
  EXPECT_EQ(weights[0].first, "conv1.weight");
  serialize::InputArchive checkpoint, model;
  checkpoint.load_from(out + "/run-1/last.ckpt");
  checkpoint.read("model", model);
  Tensor last;
  model.read("out.weight", last);
  EXPECT_TRUE(last.equal(weights[8].second));
  EXPECT_NE(bytes_of(out + "/run-1/best.ckpt"), "");

  // The final picture has all epochs, although the curves are drawn only every few seconds.
  const std::string shorter = folder.path("shorter");
  ASSERT_EQ(train({"--out", shorter, "--limit", "500", "--epochs", "1"}).status, 0);
  EXPECT_NE(bytes_of(out + "/curves.png"), bytes_of(shorter + "/curves.png"));

  // The loss of an epoch is the mean of its steps' losses.
  const std::vector<Row> rows = rows_of(out), steps = rows_of_csv(out + "/run-1/losses.csv");
  ASSERT_EQ(steps.size(), 10U);
  double sum = 0;
  for (size_t i = 5; i < 10; ++i) sum += number(steps[i], "loss");
  EXPECT_NEAR(sum / 5, number(rows[1], "loss"), 1e-12);
}

TEST(Train, CurvesAreDrawnWithoutFonts) {
  const TempFolder folder;
  const std::string out = folder.path("out"), fonts = folder.path("fonts.conf");
  write_bytes(fonts, "<fontconfig></fontconfig>");
  const RunResult ran = train({"--out", out, "--limit", "200", "--epochs", "1", "--model", "mlp"},
                              {"FONTCONFIG_FILE=" + fonts});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(bytes_of(out + "/curves.png").substr(1, 3), "PNG");
}

TEST(Train, SeedDeterminesTheInitialWeights) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  ASSERT_EQ(train({"--out", out, "--epochs", "0", "--seed", "7", "--model", "mlp"}).status, 0);
  const auto weights = io::load_safetensors(out + "/run-1/weights.safetensors");
  manual_seed(7);
  EXPECT_TRUE(weights[0].second.equal(nn::Linear(784, 256)->weight));
  EXPECT_TRUE(weights[2].second.equal(nn::Linear(256, 128)->weight));
}

TEST(Train, ConfigRepeatsARunAndFlagsOverrideIt) {
  const TempFolder folder;
  const std::string first = folder.path("first"), again = folder.path("again");
  ASSERT_EQ(train({"--out", first, "--limit", "300", "--epochs", "2", "--lr", "1e-3,.02", "--model",
                   "mlp", "--optimizer", "sgd", "--seed", "5"})
                .status,
            0);
  const std::string config = first + "/config.toml";
  ASSERT_EQ(run({"train", "--config", config, "--out", again}).status, 0);
  EXPECT_EQ(results_of(again), results_of(first));
  EXPECT_EQ(bytes_of(again + "/config.toml"), bytes_of(config));
  const std::string other = folder.path("other");
  ASSERT_EQ(run({"train", "--config", config, "--out", other, "--lr", ".02"}).status, 0);
  const std::vector<Row> rows = rows_of(other);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("lr"), "0.02");
  EXPECT_EQ(rows[1].at("loss"), rows_of(first)[3].at("loss"));
}

TEST(Train, ResumesMixedPrecision) {
  for (const std::string dtype : {"bf16", "fp16"}) {
    const TempFolder folder;
    const std::string whole = folder.path("whole"), parts = folder.path("parts");
    const auto run_to = [&](const std::string& out, const char* epochs) {
      return train({"--out", out, "--limit", "300", "--epochs", epochs, "--model", "mlp", "--amp",
                    dtype})
          .status;
    };
    ASSERT_EQ(run_to(whole, "2"), 0);
    ASSERT_EQ(run_to(parts, "1"), 0);
    ASSERT_EQ(run({"train", "--resume", parts, "--epochs", "2"}).status, 0);
    EXPECT_EQ(results_of(whole), results_of(parts));
    EXPECT_EQ(bytes_of(whole + "/run-1/weights.safetensors"),
              bytes_of(parts + "/run-1/weights.safetensors"));
    EXPECT_LT(std::stod(rows_of(whole)[1].at("loss")), std::stod(rows_of(whole)[0].at("loss")));
    EXPECT_NE(bytes_of(whole + "/config.toml").find("amp = '" + dtype + "'"), std::string::npos);
  }
}

void expect_same(const std::string& a, const std::string& b) {
  EXPECT_EQ(results_of(a), results_of(b));
  EXPECT_EQ(bytes_of(a + "/run-1/weights.safetensors"), bytes_of(b + "/run-1/weights.safetensors"));
}

TEST(Train, ResumesBitForBitAfterAKillAndAfterASignal) {
  const TempFolder folder;
  const std::string whole = folder.path("whole");
  ASSERT_EQ(run(long_run(whole), kOneThread).status, 0);
  ASSERT_EQ(rows_of(whole).size(), 4U);

  const std::string killed = folder.path("killed");
  {
    Program program(long_run(killed), kOneThread);
    wait_for_epochs(killed, 2);
    program.kill(SIGKILL);
    EXPECT_EQ(program.wait().status, -SIGKILL);
  }
  ASSERT_LT(rows_of(killed).size(), 4U) << "the program was killed too late";
  RunResult resumed = run({"train", "--resume", killed}, kOneThread);
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  expect_same(killed, whole);

  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string stopped = folder.path("stopped" + std::to_string(signal));
    Program program(long_run(stopped), kOneThread);
    wait_for_epochs(stopped, 1);
    program.kill(signal);
    const RunResult ran = program.wait();
    EXPECT_EQ(ran.status, 130);
    EXPECT_NE(ran.err.find("To resume: " HEARTH_PROGRAM " train --resume " + stopped),
              std::string::npos);
    ASSERT_LT(rows_of(stopped).size(), 4U) << "the program was stopped too late";
    resumed = run({"train", "--resume", stopped}, kOneThread);
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    expect_same(stopped, whole);
  }
}

TEST(Train, NamesFoldersUnderRunsAndResumesTheLatest) {
  const TempFolder folder;
  const InFolder here(folder.str());
  const RunResult first = train({"--limit", "200", "--epochs", "1"});
  const RunResult second = train({"--limit", "200", "--epochs", "1", "--model", "mlp"});
  const RunResult third = train({"--limit", "200", "--epochs", "1", "--model", "mlp"});
  const RunResult last = run({"train", "--epochs", "2", "--resume"}, kOneThread);
  for (const RunResult* ran : {&first, &second, &third, &last})
    ASSERT_EQ(ran->status, 0) << ran->err;
  EXPECT_EQ(rows_of(folder.path("runs/tutorial-cnn-synthetic")).size(), 1U);
  EXPECT_EQ(rows_of(folder.path("runs/mlp-synthetic")).size(), 1U);
  EXPECT_EQ(rows_of(folder.path("runs/mlp-synthetic-2")).size(), 2U);
}

TEST(Train, MoreEpochsLaterGiveTheSameResults) {
  const TempFolder folder;
  const std::string whole = folder.path("whole"), extended = folder.path("extended");
  ASSERT_EQ(train({"--out", whole, "--limit", "300", "--epochs", "3"}).status, 0);
  ASSERT_EQ(train({"--out", extended, "--limit", "300", "--epochs", "1"}).status, 0);
  ASSERT_EQ(run({"train", "--resume", extended, "--epochs", "3"}, kOneThread).status, 0);
  expect_same(extended, whole);
  // A finished run does not change.
  const std::string before = bytes_of(extended + "/results.csv");
  EXPECT_EQ(run({"train", "--resume", extended}, kOneThread).status, 0);
  EXPECT_EQ(bytes_of(extended + "/results.csv"), before);
}

}  // namespace
}  // namespace hearth::testing
