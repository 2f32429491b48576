// Runs that run out of memory, and --batch-size auto, which finds the size that fits.
#include <gtest/gtest.h>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

/// Enough GPU memory for batches of 100, not of 1000.
const std::vector<std::string> kLittleMemory{"HEARTH_SIM_GPUS=1", "HEARTH_SIM_GPU_MEMORY=32MiB",
                                             "OMP_NUM_THREADS=1"};

std::vector<std::string> statuses_of(const std::string& out) {
  std::vector<std::string> statuses;
  for (const Row& row : rows_of(out)) statuses.push_back(row.at("status"));
  return statuses;
}

TEST(TrainMemory, GridContinuesAfterARunOutOfMemory) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const RunResult ran = train({"--out", out, "--limit", "1000", "--epochs", "1", "--batch-size",
                               "1000,100", "--device", "cuda,cpu"},
                              kLittleMemory);
  expect_failure(ran, 1, "hearth: 1 of 4 runs ran out of memory. The first: CUDA out of memory. ");
  EXPECT_NE(ran.err.find("To try again: " HEARTH_PROGRAM " train --resume " + out),
            std::string::npos)
      << ran.err;
  const std::vector<std::string> expected{"out of memory", "finished", "finished", "finished"};
  EXPECT_EQ(statuses_of(out), expected);
  EXPECT_NE(ran.out.find("out of memory\n"), std::string::npos) << ran.out;
  // The GPU's run with small batches has the same results as with more memory.
  const std::string alone = folder.path("alone");
  ASSERT_EQ(train({"--out", alone, "--limit", "1000", "--epochs", "1", "--device", "cuda"},
                  {"HEARTH_SIM_GPUS=1"})
                .status,
            0);
  EXPECT_EQ(rows_of(out)[2].at("loss"), rows_of(alone)[0].at("loss"));

  // --resume tries only the failed run again.
  const std::string second = bytes_of(out + "/run-2/last.ckpt");
  expect_failure(run({"train", "--resume", out}, kLittleMemory), 1,
                 "1 of 4 runs ran out of memory.");
  EXPECT_EQ(statuses_of(out), expected);
  const RunResult resumed =
      run({"train", "--resume", out}, {"HEARTH_SIM_GPUS=1", "OMP_NUM_THREADS=1"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(statuses_of(out), std::vector<std::string>(4, "finished"));
  EXPECT_EQ(bytes_of(out + "/run-2/last.ckpt"), second);
}

TEST(TrainMemory, SingleRunReportsTheError) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const RunResult ran = train({"--out", out, "--limit", "1000", "--epochs", "1", "--batch-size",
                               "1000", "--device", "cuda"},
                              kLittleMemory);
  expect_failure(ran, 1, "hearth: CUDA out of memory. Tried to allocate ");
  EXPECT_EQ(statuses_of(out), std::vector<std::string>{"out of memory"});
}

/// The first line of stderr, which has the size that --batch-size auto has chosen.
std::string chosen(const RunResult& ran) { return ran.err.substr(0, ran.err.find('\n')); }

TEST(TrainMemory, AutoBatchSizeFitsAndIsKept) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const std::vector<std::string> little{"HEARTH_SIM_GPUS=1", "HEARTH_SIM_GPU_MEMORY=12MiB",
                                        "OMP_NUM_THREADS=1"};
  const RunResult ran =
      train({"--out", out, "--limit", "3000", "--epochs", "1", "--batch-size", "auto"}, little);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(chosen(ran).starts_with("batch size 128 (cuda: a step needs ")) << ran.err;
  EXPECT_EQ(rows_of(out)[0].at("batch_size"), "128");
  EXPECT_NE(bytes_of(out + "/config.toml").find("batch-size = [128]"), std::string::npos);
  const RunResult resumed = run({"train", "--resume", out, "--epochs", "2"}, little);
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.err.find("batch size"), std::string::npos) << resumed.err;
}

TEST(TrainMemory, AutoBatchSizeConsidersAutocast) {
  const TempFolder folder;
  const auto needed = [&](const std::string& amp) {
    const RunResult ran = train({"--out", folder.path(amp), "--limit", "2000", "--epochs", "0",
                                 "--batch-size", "auto", "--device", "cpu", "--amp", amp});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(chosen(ran).starts_with("batch size 128 (cpu: a step needs ")) << ran.err;
    return std::stoi(chosen(ran).substr(std::string("batch size 128 (cpu: a step needs ").size()));
  };
  EXPECT_LT(needed("bf16"), needed("off"));
}

TEST(TrainMemory, AutoBatchSizeIsAtMostATenthOfTheImages) {
  const TempFolder folder;
  const RunResult ran = train({"--out", folder.path("out"), "--limit", "200", "--epochs", "0",
                               "--batch-size", "auto", "--device", "cpu"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(chosen(ran).starts_with("batch size 16 (cpu: ")) << ran.err;
}

TEST(TrainMemory, AutoBatchSizeThatCannotFitIsAnError) {
  const TempFolder folder;
  expect_failure(train({"--out", folder.path("out"), "--limit", "200", "--batch-size", "auto"},
                       {"HEARTH_SIM_GPUS=1", "HEARTH_SIM_GPU_MEMORY=256KiB", "OMP_NUM_THREADS=1"}),
                 1, "hearth: --batch-size auto: not even one example fits: ");
}

TEST(TrainMemory, TheCpusLimitIsAnError) {
  const TempFolder folder;
  expect_failure(train({"--out", folder.path("out"), "--limit", "4000", "--epochs", "1",
                        "--batch-size", "4000", "--device", "cpu"},
                       {"HEARTH_CPU_MEMORY=64MiB", "OMP_NUM_THREADS=1"}),
                 1, "raise the limit of 64.00 MiB, which HEARTH_CPU_MEMORY sets");
}

TEST(TrainMemory, AfterAFailureNoStatusIsRunning) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  ASSERT_EQ(
      train({"--out", out, "--limit", "200", "--epochs", "1", "--batch-size", "100,50"}).status, 0);
  // The second run cannot write its files: its folder is a file.
  std::filesystem::remove_all(out + "/run-2");
  write_bytes(out + "/run-2", "");
  std::filesystem::remove(out + "/results.csv");
  expect_failure(run({"train", "--resume", out, "--epochs", "2"}, kOneThread), 1, "run-2");
  for (const std::string& status : statuses_of(out)) EXPECT_NE(status, "running");
  EXPECT_EQ(statuses_of(out).back(), "failed");
}

}  // namespace
}  // namespace hearth::testing
