// hearth train with bad input: error messages, and files that must not be lost.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

TEST(TrainBad, ErrorsNameTheValueAndSuggestANearOne) {
  expect_failure(train({"--model", "tutorial-cn"}), 2, "did you mean 'tutorial-cnn'?");
  expect_failure(train({"--optimizer", "adma"}), 2, "did you mean 'adam'?");
  expect_failure(train({"--device", "cud"}), 2, "did you mean 'cuda'?");
  expect_failure(run({"train", "--data", "fashion-mnits"}), 2, "did you mean 'fashion-mnist'?");
  expect_failure(train({"--bach-size", "3"}), 2, "did you mean '--batch-size'?");
  expect_failure(train({"--lr", ".1,-1"}), 2, "--lr: expected a number above 0, not '-1'");
  expect_failure(train({"--batch-size", "0"}), 2, "'0' is not a whole number from 1 to ");
  expect_failure(train({"--resume", "x", "--seed", "3"}), 2,
                 "only --epochs, --device, --num-workers and --checkpoint-activations may change");
  expect_failure(train({"--device", "cuda:1"}, {"HEARTH_SIM_GPUS=1"}), 1,
                 "there is no device 'cuda:1': the number of GPUs is 1");
}

TEST(TrainBad, ConfigErrorsNameTheLine) {
  const TempFolder folder;
  const std::string path = folder.path("x.toml");
  const auto fails = [&](const std::string& text, int status, const std::string& error) {
    write_bytes(path, text);
    expect_failure(run({"train", "--config", path}), status, error);
  };
  fails("lr = 0.1\nepoch = 3\n", 2, "x.toml:2: unknown setting 'epoch'; did you mean 'epochs'?");
  fails("\nmodel = \"mpl\"\n", 2, "x.toml:2: --model: unknown model 'mpl'; did you mean 'mlp'?");
  fails("epochs = [1, 2]\n", 2, "x.toml:1: 'epochs' takes one value");
  fails("lr = [[1]]\n", 2, "x.toml:1: expected a number, string, bool or a list of them");
  fails("resume = \"x\"\n", 2, "unknown setting 'resume'");
  fails("lr = [0.1\n", 2, "x.toml': line 1, column");
  expect_failure(run({"train", "--config", folder.path("no.toml")}), 1,
                 "No such file or directory");
}

TEST(TrainBad, UnusableFoldersAreRefused) {
  const TempFolder folder;
  const std::string file = folder.path("file"), out = folder.path("out");
  write_bytes(file, "");
  expect_failure(train({"--out", file + "/x"}), 1, "cannot create the folder '" + file + "/x'");
  expect_failure(train({"--resume", out}), 2,
                 "only --epochs, --device, --num-workers and --checkpoint-activations may change");
  expect_failure(run({"train", "--resume", out}), 1, "holds no run to resume");
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1"}).status, 0);
  const std::string results = bytes_of(out + "/results.csv");
  expect_failure(train({"--out", out}), 1, "already holds a run");
  EXPECT_EQ(bytes_of(out + "/results.csv"), results);
  expect_failure(run({"train", "--data", folder.str()}), 1,
                 "train-images-idx3-ubyte: neither it nor train-images-idx3-ubyte.gz exists");
}

TEST(TrainBad, ForeignFilesAreNotOverwritten) {
  const TempFolder folder;
  for (const char* name : {"config.toml", "results.csv", "results.json", "curves.png"}) {
    const std::string out = folder.path(std::string("with-") + name), file = out + "/" + name;
    std::filesystem::create_directory(out);
    write_bytes(file, "mine");
    expect_failure(train({"--out", out}), 1,
                   "'" + file + "' already exists and was not written by a run");
    EXPECT_EQ(bytes_of(file), "mine");
    EXPECT_FALSE(std::filesystem::exists(out + "/run-1"));
  }
  const std::string out = folder.path("out"), weights = out + "/run-2/weights.safetensors";
  std::filesystem::create_directories(out + "/run-2");
  write_bytes(weights, "mine");
  expect_failure(train({"--out", out, "--batch-size", "10,20"}), 1,
                 "'" + out + "/run-2' already exists");
  EXPECT_EQ(bytes_of(weights), "mine");
  expect_failure(train({"--out", ""}), 2, "--out: the path is empty");
}

/// Limits the size of files during its lifetime, as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &old_); }

 private:
  rlimit old_{};
};

TEST(TrainBad, FullDiskKeepsTheOldFiles) {
  const TempFolder folder;
  const std::string out = folder.path("out"), last = out + "/run-1/last.ckpt";
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1", "--no-tensorboard"}).status, 0);
  const std::string before = bytes_of(last);
  const std::vector<Row> results = results_of(out);
  const auto files = [&] {
    using Iterator = std::filesystem::recursive_directory_iterator;
    return std::distance(Iterator(out), Iterator());
  };
  const auto count = files();
  {
    const FileSizeLimit limit(200 << 10);
    const RunResult ran = run({"train", "--resume", out, "--epochs", "2"}, kOneThread);
    expect_failure(ran, 1, "File too large");
    // This process has saved nothing.
    EXPECT_EQ(ran.err.find("To resume"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(bytes_of(last), before);
  ASSERT_EQ(rows_of(out).size(), 1U);
  EXPECT_EQ(rows_of(out)[0].at("loss"), results[0].at("loss"));
  EXPECT_EQ(files(), count);
  ASSERT_EQ(run({"train", "--resume", out}, kOneThread).status, 0);
  EXPECT_EQ(rows_of(out).size(), 2U);
}

TEST(TrainBad, ErrorOfAFullDiskSaysHowToResume) {
  const TempFolder folder;
  const std::string first = folder.path("first"), out = folder.path("out");
  const std::vector<std::string> settings{"--limit", "200", "--batch-size", "1", "--log-losses"};
  const auto arguments = [&](std::vector<std::string> rest) {
    rest.insert(rest.end(), settings.begin(), settings.end());
    return rest;
  };
  ASSERT_EQ(train(arguments({"--out", first, "--epochs", "1"})).status, 0);
  // Enough for the checkpoint of the first epoch, not for that of the second.
  const FileSizeLimit limit(std::filesystem::file_size(first + "/run-1/last.ckpt") + 800);
  const RunResult ran = train(arguments({"--out", out, "--epochs", "2"}));
  expect_failure(ran, 1, "File too large");
  EXPECT_NE(ran.err.find(
                "\nTo resume from the last checkpoint: " HEARTH_PROGRAM " train --resume " + out),
            std::string::npos)
      << ran.err;
  ASSERT_EQ(rows_of(out).size(), 1U);
  EXPECT_EQ(rows_of(out)[0].at("status"), "failed");
}

TEST(TrainBad, NonFiniteLossStopsAndNamesTheParameter) {
  const TempFolder folder;
  const RunResult ran = train({"--out", folder.path("out"), "--optimizer", "sgd", "--lr", "1e20",
                               "--limit", "300", "--model", "mlp"});
  expect_failure(ran, 1, "the loss became ");
  EXPECT_NE(ran.err.find(" at step 2 (epoch 1/5, batch 2): 'fc1.weight' is the first parameter "),
            std::string::npos)
      << ran.err;
}

TEST(TrainBad, CorruptCheckpointsAreRefused) {
  const TempFolder folder;
  const std::string out = folder.path("out"), last = out + "/run-1/last.ckpt";
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1"}).status, 0);
  const std::string whole = bytes_of(last);
  const std::vector<std::string> more{"train", "--resume", out, "--epochs", "2"};
  write_bytes(last, whole.substr(0, whole.size() - 1000));
  expect_failure(run(more), 1, "cannot read '" + last + "': at byte ");
  write_bytes(last, "no checkpoint at all");
  expect_failure(run(more), 1, "cannot read '" + last + "': at byte 0: expected the header's");
  write_bytes(last, bytes_of(out + "/run-1/weights.safetensors"));
  expect_failure(run(more), 1, "while reading the checkpoint '" + last + "'");
  write_bytes(last, whole);
  EXPECT_EQ(run(more, kOneThread).status, 0);
}

TEST(TrainBad, WrongImageSizeNamesTheModule) {
  const TempFolder folder;
  write_images(folder.str(), 32, 32);
  const RunResult ran = run(
      {"train", "--data", folder.str(), "--out", folder.path("cnn"), "--model", "tutorial-cnn"});
  expect_failure(ran, 1, "mat1 and mat2 shapes cannot be multiplied (5x300 and 192x120)");
  EXPECT_NE(ran.err.find("fc1"), std::string::npos) << ran.err;
  // The MLP takes images of any size.
  EXPECT_EQ(
      run({"train", "--data", folder.str(), "--out", folder.path("mlp"), "--model", "mlp"}).status,
      0);
}

}  // namespace
}  // namespace hearth::testing
