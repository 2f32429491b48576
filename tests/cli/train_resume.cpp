// hearth train --resume: what it refuses, what its files hold, and the command that a run prints.
#include <gtest/gtest.h>

#include <filesystem>

#include "hearth/hearth.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

/// The text with one line replaced.
std::string replaced(std::string text, const std::string& line, const std::string& replacement) {
  const size_t start = text.find(line + "\n");
  EXPECT_NE(start, std::string::npos) << text;
  return text.replace(start, line.size(), replacement);
}

std::vector<std::string> resume(const std::string& out, const std::string& epochs) {
  return {"train", "--resume", out, "--epochs", epochs};
}

TEST(TrainResume, ChangedSettingsAreRefused) {
  const TempFolder folder;
  const std::string out = folder.path("out"), config = out + "/config.toml",
                    last = out + "/run-1/last.ckpt";
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1"}).status, 0);
  const std::string before = bytes_of(config), checkpoint = bytes_of(last);
  const auto refuses = [&](const char* line, const char* by, const std::string& error) {
    const std::string changed = replaced(before, line, by);
    write_bytes(config, changed);
    expect_failure(run(resume(out, "2"), kOneThread), 1,
                   error +
                       " in this run: config.toml or the data has changed\nwhile reading the "
                       "checkpoint '" +
                       last + "'");
    EXPECT_EQ(bytes_of(config), changed);
    EXPECT_EQ(bytes_of(last), checkpoint);
  };
  refuses("lr = [0.01]", "lr = [0.5]", "lr is 0.5, but was 0.01");
  refuses("lr = [0.01]", "lr = [0.5, 0.01]", "lr is 0.5, but was 0.01");
  refuses("batch-size = [100]", "batch-size = [50]", "batch_size is 50, but was 100");
  refuses("optimizer = 'adam'", "optimizer = 'sgd'", "optimizer is sgd, but was adam");
  refuses("model = 'tutorial-cnn'", "model = 'lenet'", "model is lenet, but was tutorial-cnn");
  refuses("seed = 0", "seed = 1", "seed is 1, but was 0");
  refuses("limit = 200", "limit = 100", "limit is 100, but was 200");
  refuses("limit = 200", "", "limit is none, but was 200");
  // The number of workers does not change the results.
  write_bytes(config, replaced(before, "num-workers = [0]", "num-workers = [2]"));
  EXPECT_EQ(run(resume(out, "2"), kOneThread).status, 0);
}

TEST(TrainResume, SwappedRunsAreRefused) {
  const TempFolder folder;
  const std::string out = folder.path("out"), first = out + "/run-1", second = out + "/run-2";
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1", "--lr", ".01,.02"}).status, 0);
  std::filesystem::rename(first, out + "/x");
  std::filesystem::rename(second, first);
  std::filesystem::rename(out + "/x", second);
  expect_failure(run(resume(out, "1"), kOneThread), 1, "lr is 0.01, but was 0.02 in this run");
}

TEST(TrainResume, FilesHaveMetadata) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1", "--log-losses"}).status, 0);
  EXPECT_EQ(
      io::SafetensorsFile(out + "/run-1/weights.safetensors").metadata(),
      (io::Metadata{{"model", "tutorial-cnn"}, {"classes", "10"}, {"image_size", "1x28x28"}}));
  // Lists of numbers are stored as tensors: a header has too little room for them.
  const io::SafetensorsFile last(out + "/run-1/last.ckpt");
  EXPECT_EQ(last.info("progress.losses").dtype, "F64");
  EXPECT_EQ(last.info("progress.losses").sizes, std::vector<int64_t>{2});
  EXPECT_EQ(last.info("progress.test_accuracy").sizes, std::vector<int64_t>{1});
}

TEST(TrainResume, FewerEpochsThanTrainedAreRefused) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "2"}).status, 0);
  const std::string config = bytes_of(out + "/config.toml"), last = out + "/run-1";
  for (const char* epochs : {"1", "0"})
    expect_failure(run(resume(out, epochs)), 1,
                   std::string("--epochs ") + epochs + " is less than the 2 already trained in '" +
                       last + "'");
  EXPECT_EQ(bytes_of(out + "/config.toml"), config);
  const RunResult ran = run(resume(out, "2"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.err.find("Nothing is left to do."), std::string::npos) << ran.err;
}

TEST(TrainResume, ErrorNamesAMissingCheckpoint) {
  const TempFolder folder;
  const std::string out = folder.path("out"), last = out + "/run-1/last.ckpt";
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1"}).status, 0);
  const std::string results = bytes_of(out + "/results.csv");
  std::filesystem::remove(last);
  expect_failure(run(resume(out, "1")), 1, "'" + last + "' is missing, but " + out);
  EXPECT_EQ(bytes_of(out + "/results.csv"), results);
}

TEST(TrainResume, OnlyOneProcessUsesAFolder) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const Program program(long_run(out, "400"), kOneThread);
  wait_for_epochs(out, 1);
  const std::string error = "another hearth train is running in '" + out + "'";
  expect_failure(run({"train", "--resume", out}), 1, error);
  expect_failure(run(long_run(out)), 1, error);
}

TEST(TrainResume, PrintsAShellCommand) {
  const TempFolder folder;
  const std::string out = folder.path("it's here");
  std::vector<std::string> arguments = long_run(out, "400");
  arguments.back() = ".001,.002";
  Program program(arguments, kOneThread);
  wait_for_epochs(out, 2);
  // The curves are drawn from the first epoch on; the second run's folder does not exist yet.
  EXPECT_NE(bytes_of(out + "/curves.png"), "");
  EXPECT_FALSE(std::filesystem::exists(out + "/run-2"));
  program.kill(SIGINT);
  const RunResult ran = program.wait();
  EXPECT_EQ(ran.status, 130);
  EXPECT_NE(ran.err.find("To resume: " HEARTH_PROGRAM " train --resume '" + folder.str() +
                         "/it'\\''s here'\n"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(rows_of(out).back().at("status"), "stopped");
}

}  // namespace
}  // namespace hearth::testing
