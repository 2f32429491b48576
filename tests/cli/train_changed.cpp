// hearth train --resume after changes to the data or the checkpoint.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "hearth/hearth.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

/// A run on five training and five test images of 28 x 28 and two classes.
class TrainChanged : public ::testing::Test {
 protected:
  TrainChanged() {
    write_images(data_, 28, 28);
    change("train-labels-idx1-ubyte", 8, '\0');
    change("t10k-labels-idx1-ubyte", 8, '\0');
    first_ = run({"train", "--data", data_, "--out", out_, "--model", "mlp", "--epochs", "1"},
                 kOneThread);
  }
  /// Sets one byte of a data file.
  void change(const std::string& file, size_t offset, char value) const {
    std::string content = bytes_of(data_ + "/" + file);
    content.at(offset) = value;
    write_bytes(data_ + "/" + file, content);
  }
  RunResult resume() const { return run({"train", "--resume", out_, "--epochs", "2"}, kOneThread); }

  const TempFolder folder_;
  const std::string data_ = folder_.path("data"), out_ = folder_.path("out");
  const std::string last_ = out_ + "/run-1/last.ckpt";
  RunResult first_;
};

TEST_F(TrainChanged, ChangedDataIsRefused) {
  ASSERT_EQ(first_.status, 0) << first_.err;
  const std::string checkpoint = bytes_of(last_);
  const struct {
    const char *file, *name;
    size_t offset;
    char old, other;
  } changes[] = {{"train-images-idx3-ubyte", "training_images", 16 + 784, '\1', '\0'},
                 {"train-labels-idx1-ubyte", "training_labels", 12, '\1', '\0'},
                 {"t10k-images-idx3-ubyte", "test_images", 16 + 5 * 784 - 1, '\1', '\3'},
                 {"t10k-labels-idx1-ubyte", "test_labels", 8, '\0', '\1'}};
  for (const auto& [file, name, offset, old, other] : changes) {
    change(file, offset, other);
    expect_failure(resume(), 1, std::string("hearth: ") + name + "_checksum is ");
    change(file, offset, old);
  }
  EXPECT_EQ(bytes_of(last_), checkpoint);
  const RunResult resumed = resume();
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST_F(TrainChanged, DamagedCheckpointsAreRefused) {
  ASSERT_EQ(first_.status, 0) << first_.err;
  const std::string whole = bytes_of(last_);
  for (const size_t from_end : {size_t{1}, size_t{3000}, whole.size() / 2}) {
    std::string damaged = whole;
    char& byte = damaged[whole.size() - from_end];
    byte = static_cast<char>(~byte);
    write_bytes(last_, damaged);
    expect_failure(resume(), 1, "cannot read '" + last_ + "': the file is damaged");
  }
  // One bit of a result in the checkpoint.
  std::string damaged = whole;
  const io::SafetensorsFile file(last_);
  const double loss = file.get_tensor("progress.loss").item<double>();
  char bytes[sizeof loss];
  std::memcpy(bytes, &loss, sizeof loss);
  const size_t offset = whole.find(std::string(bytes, sizeof loss));
  ASSERT_LT(offset, whole.size());
  damaged[offset + 6] = static_cast<char>(damaged[offset + 6] ^ 1);
  write_bytes(last_, damaged);
  expect_failure(run({"train", "--resume", out_}, kOneThread), 1, "the file is damaged");
  write_bytes(last_, whole);
  EXPECT_EQ(resume().status, 0);
}

/// Copies an archive as older versions wrote it: without checksums, with the old name of
/// tutorial-cnn.
void copy_as_older_version(serialize::InputArchive& from, serialize::OutputArchive& to) {
  for (const std::string& key : from.keys()) {
    serialize::InputArchive below;
    IValue value;
    if (key.ends_with("checksum")) continue;
    if (from.try_read(key, below)) {
      serialize::OutputArchive nested;
      copy_as_older_version(below, nested);
      to.write(key, nested);
    } else {
      from.read(key, value);
      const bool is_renamed = value.isString() && value.toStringRef() == "tutorial-cnn";
      to.write(key, is_renamed ? IValue("seed-cnn") : value);
    }
  }
}

void rewrite_as_older_version(const std::string& checkpoint) {
  serialize::InputArchive now;
  now.load_from(checkpoint);
  serialize::OutputArchive older;
  copy_as_older_version(now, older);
  older.save_to(checkpoint);
}

TEST_F(TrainChanged, RunsOfOlderVersionsCanBeResumed) {
  ASSERT_EQ(first_.status, 0) << first_.err;
  rewrite_as_older_version(last_);
  change("train-images-idx3-ubyte", 1000, '\0');
  const RunResult resumed = resume();
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST_F(TrainChanged, RunsWithTheOldModelNameCanBeResumed) {
  const std::string out = folder_.path("cnn"), config = out + "/config.toml";
  const std::string name = "tutorial-cnn";
  ASSERT_EQ(run({"train", "--data", data_, "--out", out, "--epochs", "1"}, kOneThread).status, 0);
  std::string older = bytes_of(config);
  const size_t offset = older.find(name);
  ASSERT_LT(offset, older.size()) << older;
  write_bytes(config, older.replace(offset, name.size(), "seed-cnn"));
  rewrite_as_older_version(out + "/run-1/last.ckpt");
  const RunResult resumed = run({"train", "--resume", out, "--epochs", "2"}, kOneThread);
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_NE(bytes_of(config).find(name), std::string::npos);
}

TEST_F(TrainChanged, NotesClassesWithoutImagesAndRefusesUnknownTestLabels) {
  EXPECT_EQ(first_.err.find("classes"), std::string::npos) << first_.err;
  change("train-labels-idx1-ubyte", 12, '\xff');
  const auto again = [&](const char* out) {
    return run(
        {"train", "--data", data_, "--out", folder_.path(out), "--model", "mlp", "--epochs", "1"},
        kOneThread);
  };
  const RunResult ran = again("gaps");
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.err.find("There are 256 classes; 253 of them have no training example.\n"),
            std::string::npos)
      << ran.err;
  change("train-labels-idx1-ubyte", 12, '\1');
  change("t10k-labels-idx1-ubyte", 9, '\7');
  expect_failure(again("test"), 1,
                 "the labels of '" + data_ + "/t10k-labels-idx1-ubyte' go up to 7, but those of '" +
                     data_ + "/train-labels-idx1-ubyte' only to 1");
}

}  // namespace
}  // namespace hearth::testing
