// hearth train --resume: only the run that was saved goes on, and only one process at it.
#include <gtest/gtest.h>

#include <filesystem>

#include "hearth/hearth.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

/// `text` with one line of it changed.
std::string replaced(std::string text, const std::string& line, const std::string& by) {
  const size_t at = text.find(line + "\n");
  EXPECT_NE(at, std::string::npos) << text;
  return text.replace(at, line.size(), by);
}

std::vector<std::string> resume(const std::string& out, const std::string& epochs) {
  return {"train", "--resume", out, "--epochs", epochs};
}

TEST(TrainResume, OtherSettingsThanTheCheckpointsAreRefused) {
  const TempFolder folder;
  const std::string out = folder.path("out"), config = out + "/config.toml",
                    last = out + "/run-1/last.ckpt";
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1"}).status, 0);
  const std::string before = bytes_of(config), checkpoint = bytes_of(last);
  const auto refuses = [&](const char* line, const char* by, const std::string& says) {
    const std::string changed = replaced(before, line, by);
    write_bytes(config, changed);
    expect_failure(run(resume(out, "2"), kOneThread), 1,
                   says +
                       " then: config.toml or the images are not those of this run\nwhile "
                       "reading the checkpoint '" +
                       last + "'");
    EXPECT_EQ(bytes_of(config), changed);
    EXPECT_EQ(bytes_of(last), checkpoint);
  };
  refuses("lr = [0.01]", "lr = [0.5]", "lr is 0.5 now, but it was 0.01");
  refuses("lr = [0.01]", "lr = [0.5, 0.01]", "lr is 0.5 now, but it was 0.01");
  refuses("batch-size = [100]", "batch-size = [50]", "batch_size is 50 now, but it was 100");
  refuses("optimizer = 'adam'", "optimizer = 'sgd'", "optimizer is sgd now, but it was adam");
  refuses("model = 'seed-cnn'", "model = 'lenet'", "model is lenet now, but it was seed-cnn");
  refuses("seed = 0", "seed = 1", "seed is 1 now, but it was 0");
  refuses("limit = 200", "limit = 100", "limit is 100 now, but it was 200");
  refuses("limit = 200", "", "limit is none now, but it was 200");
  // How the images are read does not change what comes out.
  write_bytes(config, replaced(before, "num-workers = [0]", "num-workers = [2]"));
  EXPECT_EQ(run(resume(out, "2"), kOneThread).status, 0);
}

TEST(TrainResume, RunsAreNotTakenForEachOther) {
  const TempFolder folder;
  const std::string out = folder.path("out"), first = out + "/run-1", second = out + "/run-2";
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1", "--lr", ".01,.02"}).status, 0);
  std::filesystem::rename(first, out + "/x");
  std::filesystem::rename(second, first);
  std::filesystem::rename(out + "/x", second);
  expect_failure(run(resume(out, "1"), kOneThread), 1, "lr is 0.01 now, but it was 0.02 then");
}

TEST(TrainResume, FilesSayWhatTheyAreOf) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1", "--log-losses"}).status, 0);
  EXPECT_EQ(io::SafetensorsFile(out + "/run-1/weights.safetensors").metadata(),
            (io::Metadata{{"model", "seed-cnn"}, {"classes", "10"}, {"image_size", "1x28x28"}}));
  // Long columns of numbers are tensors: a header has no room for them.
  const io::SafetensorsFile last(out + "/run-1/last.ckpt");
  EXPECT_EQ(last.info("progress.losses").dtype, "F64");
  EXPECT_EQ(last.info("progress.losses").sizes, std::vector<int64_t>{2});
  EXPECT_EQ(last.info("progress.test_accuracy").sizes, std::vector<int64_t>{1});
}

TEST(TrainResume, FewerEpochsThanAreTrainedAreRefused) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "2"}).status, 0);
  const std::string config = bytes_of(out + "/config.toml"), last = out + "/run-1";
  for (const char* epochs : {"1", "0"})
    expect_failure(run(resume(out, epochs)), 1,
                   std::string("--epochs ") + epochs +
                       " is less than the 2 that are trained already in '" + last + "'");
  EXPECT_EQ(bytes_of(out + "/config.toml"), config);
  const Ran ran = run(resume(out, "2"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.err.find("Nothing is left to do."), std::string::npos) << ran.err;
}

TEST(TrainResume, ALostCheckpointIsNamed) {
  const TempFolder folder;
  const std::string out = folder.path("out"), last = out + "/run-1/last.ckpt";
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1"}).status, 0);
  const std::string results = bytes_of(out + "/results.csv");
  std::filesystem::remove(last);
  expect_failure(run(resume(out, "1")), 1, "'" + last + "' is not there, but " + out);
  EXPECT_EQ(bytes_of(out + "/results.csv"), results);
}

TEST(TrainResume, OneProcessWorksInAFolder) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  const Program program(long_run(out, "400"), kOneThread);
  wait_for_epochs(out, 1);
  const std::string says = "another hearth train is at work in '" + out + "'";
  expect_failure(run({"train", "--resume", out}), 1, says);
  expect_failure(run(long_run(out)), 1, says);
}

TEST(TrainResume, HowToGoOnIsForAShell) {
  const TempFolder folder;
  const std::string out = folder.path("it's here");
  std::vector<std::string> arguments = long_run(out, "400");
  arguments.back() = ".001,.002";
  Program program(arguments, kOneThread);
  wait_for_epochs(out, 2);
  // The first epoch has its curves already; the next run's folder is not needed yet.
  EXPECT_NE(bytes_of(out + "/curves.png"), "");
  EXPECT_FALSE(std::filesystem::exists(out + "/run-2"));
  program.kill(SIGINT);
  const Ran ran = program.wait();
  EXPECT_EQ(ran.status, 130);
  EXPECT_NE(ran.err.find("To go on: " HEARTH_PROGRAM " train --resume '" + folder.str() +
                         "/it'\\''s here'\n"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(rows_of(out).back().at("status"), "stopped");
}

}  // namespace
}  // namespace hearth::testing
