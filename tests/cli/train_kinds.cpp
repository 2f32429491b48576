// The kinds of data of hearth train, the models for them, augmentation, records for TensorBoard.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "hearth/hearth.h"
#include "hearth/vision/image.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

namespace fs = std::filesystem;

/// Runs `hearth train` on data at a path and returns the rows of its results.
std::vector<Row> rows_with(const std::string& data, const std::string& out,
                           const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"train", "--data", data, "--out", out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const RunResult ran = run(arguments, kOneThread);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return rows_of(out);
}

std::string setting(const std::string& out, const std::string& name) {
  return nlohmann::json::parse(bytes_of(out + "/results.json")).at(name);
}

TEST(TrainKinds, TablesTrainAPerceptron) {
  const TempFolder folder;
  const std::string file = folder.path("t.csv"), out = folder.path("out");
  std::string text = "x,y,kind\n";
  for (int i = 0; i < 100; ++i)
    text +=
        std::to_string(1000 + i) + "," + std::to_string(i % 7) + (i < 50 ? ",low\n" : ",high\n");
  write_bytes(file, text);
  const std::vector<Row> rows =
      rows_with("csv:" + file, out, {"--epochs", "8", "--batch-size", "10"});
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_GE(number(rows.back(), "test_accuracy"), 0.9);
  EXPECT_EQ(setting(out, "model"), "mlp");
  const RunResult eval = run({"eval", out}, kOneThread);
  EXPECT_EQ(eval.status, 0) << eval.err;
  EXPECT_NE(eval.out.find(" high  low  recognised"), std::string::npos) << eval.out;
  write_bytes(file, "x,kind\n1,a\nred,b\n2,c\n");
  expect_failure(run({"train", "--data", "csv:" + file, "--out", folder.path("bad")}), 1, "red");
}

TEST(TrainKinds, TextsTrainACharacterModel) {
  const TempFolder folder;
  const std::string file = folder.path("t.txt"), out = folder.path("out");
  std::string text;
  for (int i = 0; i < 800; ++i) text += "abcde";
  write_bytes(file, text);
  const std::vector<Row> rows =
      rows_with("text:" + file, out, {"--epochs", "4", "--batch-size", "5"});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(setting(out, "model"), "char-lstm");
  EXPECT_GE(number(rows.back(), "accuracy"), 0.9);
  EXPECT_GE(number(rows.back(), "test_accuracy"), 0.9);
  EXPECT_LE(number(rows.back(), "test_accuracy"), 1);
  write_bytes(file, "too short");
  expect_failure(run({"train", "--data", "text:" + file, "--out", folder.path("bad")}), 1,
                 "a text needs at least 650 characters");
}

TEST(TrainKinds, FoldersOfImagesTrainAZooModel) {
  const TempFolder folder;
  const std::string images = folder.path("images"), out = folder.path("out");
  for (int i = 0; i < 20; ++i) {
    const std::string name = i % 2 ? "blue" : "red";
    fs::create_directories(images + "/" + name);
    const Tensor image = zeros({3, 20 + i, 24}, kByte);
    image[i % 2 ? 2 : 0].fill_(200);
    vision::write_png(image, images + "/" + name + "/" + std::to_string(i) + ".png");
  }
  const std::vector<Row> rows =
      rows_with("image-folder:" + images, out,
                {"--epochs", "2", "--batch-size", "4", "--image-size", "16", "--lr", ".01",
                 "--optimizer", "sgd"});  // checkpoints without momentum are small
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(setting(out, "model"), "resnet18");
  EXPECT_LT(number(rows[1], "loss"), number(rows[0], "loss"));
  const RunResult ran = run({"predict", out, images + "/red/0.png", "--json"}, kOneThread);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string name = nlohmann::json::parse(ran.out)[0]["class"];
  EXPECT_TRUE(name == "red" || name == "blue") << name;
  EXPECT_EQ(run({"eval", out}, kOneThread).status, 0);
}

TEST(TrainKinds, CifarFilesAreRead) {
  const TempFolder folder;
  const std::string data = folder.path("cifar"), out = folder.path("out");
  fs::create_directory(data);
  for (const char* name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                           "data_batch_5", "test_batch"}) {
    std::string records;
    for (char label = 0; label < 10; ++label)
      records += label + std::string(3072, char(label * 20));
    write_bytes(data + "/" + name + ".bin", records);
  }
  EXPECT_EQ(rows_with("cifar10:" + data, out, {"--epochs", "1", "--model", "mlp"}).size(), 1U);
  const RunResult eval = run({"eval", out}, kOneThread);
  EXPECT_NE(eval.out.find("airplane"), std::string::npos) << eval.out << eval.err;
}

TEST(TrainKinds, ModelsAndDataMustFit) {
  expect_failure(train({"--model", "char-lstm"}), 1,
                 "the model 'char-lstm' does not fit these data: try --model tutorial-cnn");
  expect_failure(run({"train", "--data", "csv"}), 2, "'csv' needs a path: --data csv:PATH");
  expect_failure(run({"train", "--data", "csv:/nowhere.csv"}), 2, "cannot read '/nowhere.csv'");
  expect_failure(run({"train", "--data", "synthetic:x"}), 2, "'synthetic' has no path");
  expect_failure(train({"--augment", "flop"}), 2,
                 "unknown augmentation 'flop'; did you mean 'flip'?");
}

TEST(TrainKinds, AugmentedBatchesDoNotDependOnWorkers) {
  const TempFolder folder;
  const auto losses = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--limit", "100", "--epochs", "2", "--model", "mlp"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string out = folder.path("out" + std::to_string(more.size()) + more.back());
    return rows_with("synthetic", out, arguments).at(1).at("loss");
  };
  const std::string alone = losses({"--augment", "crop,flip,randaugment", "--num-workers", "0"});
  EXPECT_EQ(losses({"--augment", "crop,flip,randaugment", "--num-workers", "2"}), alone);
  EXPECT_NE(losses({"--num-workers", "0"}), alone);
}

TEST(TrainKinds, ResumedRunsMayUseOtherDevicesAndWorkers) {
  const TempFolder folder;
  const std::string out = folder.path("out");
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1", "--device", "cpu"}).status, 0);
  const std::vector<std::string> simulated{"HEARTH_SIM_GPUS=1", "OMP_NUM_THREADS=1"};
  const RunResult resumed =
      run({"train", "--resume", out, "--epochs", "2", "--device", "cuda", "--num-workers", "2"},
          simulated);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(rows_of(out).at(1).at("device"), "cuda");
  EXPECT_EQ(rows_of(out).at(1).at("num_workers"), "2");
  EXPECT_NE(bytes_of(out + "/config.toml").find("device = ['cuda']"), std::string::npos);
  expect_failure(run({"train", "--resume", out, "--device", "cpu,cuda"}, simulated), 2,
                 "--device: the resumed training has 1 of them, so give as many, not 2");
}

/// The content of a run's files for TensorBoard.
std::string records_of(const std::string& out) {
  std::string records;
  for (const auto& entry : fs::directory_iterator(out + "/run-1"))
    if (entry.path().filename().string().starts_with("events.out.tfevents."))
      records += bytes_of(entry.path());
  return records;
}

TEST(TrainKinds, WithoutThePlotPluginThereAreNoPictures) {
  const TempFolder folder;
  const std::string out = folder.path("out"), plugin = "HEARTH_PLOT_PLUGIN=/nowhere/plot.so";
  const RunResult ran = train({"--out", out, "--limit", "200", "--epochs", "1"}, {plugin});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.err.find("There will be no curves.png: Hearth's plot plugin /nowhere/plot.so, "
                         "which HEARTH_PLOT_PLUGIN names, was not found"),
            std::string::npos)
      << ran.err;
  EXPECT_FALSE(fs::exists(out + "/curves.png"));
  EXPECT_EQ(records_of(out).find("confusion matrix"), std::string::npos);
  const RunResult eval = run({"eval", out}, {plugin, kOneThread[0]});
  expect_failure(eval, 1, "cannot draw a figure: Hearth's plot plugin");
  EXPECT_NE(eval.out.find("accuracy"), std::string::npos);  // all but the picture
}

TEST(TrainKinds, WritesRecordsForTensorBoard) {
  const TempFolder folder;
  const std::string out = folder.path("out"), without = folder.path("without");
  ASSERT_EQ(train({"--out", out, "--limit", "200", "--epochs", "1"}).status, 0);
  const std::string records = records_of(out);
  for (const char* tag :
       {"loss/step", "loss/epoch", "accuracy/training", "accuracy/test", "learning_rate",
        "seconds_per_step", "settings/text_summary", "lr = [0.01]", "images", "confusion matrix",
        "weights/conv1.weight", "gradients/out.bias", "Conv2d[conv2]",
        "_hparams_/session_start_info", "hparam/test_accuracy"})
    EXPECT_NE(records.find(tag), std::string::npos) << tag;
  ASSERT_EQ(train({"--out", without, "--limit", "200", "--epochs", "1", "--no-tensorboard"}).status,
            0);
  EXPECT_EQ(records_of(without), "");
  EXPECT_EQ(results_of(without), results_of(out));
}

}  // namespace
}  // namespace hearth::testing
