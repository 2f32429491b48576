// hearth eval, predict, compare and export, which read the output of hearth train.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "hearth/hearth.h"
#include "hearth/io/tensors.h"
#include "hearth/vision/image.h"
#include "tests/cli/train_support.h"

namespace hearth::testing {
namespace {

using Json = nlohmann::json;

constexpr int64_t kImages = 40, kSize = 6, kClasses = 3;

std::string bytes_in(const Tensor& tensor) {
  const Tensor bytes = tensor.to(kByte).contiguous();
  const auto* data = static_cast<const char*>(bytes.data_ptr());
  return {data, data + bytes.numel()};
}

/// The header of a file in MNIST's format, for sizes below 256.
std::string idx_header(const std::vector<int64_t>& sizes) {
  std::string text{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (const int64_t size : sizes) text += std::string(3, '\0') + static_cast<char>(size);
  return text;
}

/// Trained MLPs on random images, and the same network computed by hand in float64.
class Eval : public ::testing::Test {
 protected:
  Eval() {
    manual_seed(3);
    images_ = randint(0, 256, {kImages, kSize, kSize}, kLong);
    labels_ = randint(0, kClasses, {kImages}, kLong);
    std::filesystem::create_directories(data_);
    for (const char* set : {"train", "t10k"}) {
      write_bytes(data_ + "/" + set + "-images-idx3-ubyte",
                  idx_header({kImages, kSize, kSize}) + bytes_in(images_));
      write_bytes(data_ + "/" + set + "-labels-idx1-ubyte",
                  idx_header({kImages}) + bytes_in(labels_));
    }
    const RunResult ran = run({"train", "--data", data_, "--out", out_, "--model", "mlp",
                               "--epochs", "3", "--batch-size", "10", "--lr", ".001,.005"},
                              kOneThread);
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
  /// The network's output with the weights of a run's best checkpoint.
  Tensor scores(const std::string& run_folder) const {
    serialize::InputArchive checkpoint, model;
    checkpoint.load_from(run_folder + "/best.ckpt");
    checkpoint.read("model", model);
    const auto layer = [&](const std::string& name, const Tensor& x) {
      serialize::InputArchive part;
      Tensor weight, bias;
      model.read(name + ".weight", weight);
      model.read(name + ".bias", bias);
      return x.matmul(weight.detach().to(kDouble).t()) + bias.detach().to(kDouble);
    };
    const Tensor x = images_.to(kDouble).view({kImages, -1}) / 255;
    return layer("out", relu(layer("fc2", relu(layer("fc1", x)))));
  }
  /// The run with the best accuracy, which the commands use if they get the folder of all runs.
  std::string best_run() const {
    double best = -1;
    std::string number;
    for (const Row& row : rows_of(out_))
      if (hearth::testing::number(row, "test_accuracy") > best) {
        best = hearth::testing::number(row, "test_accuracy");
        number = row.at("run");
      }
    return out_ + "/run-" + number;
  }

  const TempFolder folder_;
  const std::string data_ = folder_.path("data"), out_ = folder_.path("out");
  Tensor images_, labels_;
};

TEST_F(Eval, MeasuresAccuracyLossAndConfusion) {
  const RunResult ran = run({"eval", out_, "--json"}, kOneThread);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["checkpoint"], best_run() + "/best.ckpt");
  const Tensor expected = scores(best_run()), predicted = expected.argmax(1);
  EXPECT_NEAR(json["loss"], cross_entropy_loss(expected, labels_).item<double>(), 1e-5);
  EXPECT_NEAR(json["accuracy"], predicted.eq(labels_).to(kDouble).mean().item<double>(), 1e-12);
  for (int64_t row = 0; row < kClasses; ++row)
    for (int64_t column = 0; column < kClasses; ++column)
      EXPECT_EQ(json["confusion"][size_t(row)][size_t(column)],
                (labels_.eq(row) & predicted.eq(column)).sum().item<int64_t>());
  EXPECT_EQ(bytes_of(best_run() + "/confusion.png").substr(1, 3), "PNG");

  const RunResult text = run({"eval", out_ + "/run-1", "--picture", folder_.path("c.png")});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.out.find("accuracy  0."), 0U) << text.out;
  const size_t head = text.out.find("\ntrue \\ predicted ");
  ASSERT_NE(head, std::string::npos) << text.out;
  EXPECT_LT(head, text.out.find(" recognised\n"));
  EXPECT_EQ(bytes_of(folder_.path("c.png")).substr(1, 3), "PNG");
}

using Texts = std::map<std::string, std::string>;

/// Copies an archive with other values of some keys.
serialize::OutputArchive copy_of(serialize::InputArchive& archive, const Texts& others = {}) {
  serialize::OutputArchive copy;
  for (const auto& [key, text] : others) copy.write(key, text);
  for (const std::string& key : archive.keys()) {
    if (others.count(key) > 0) continue;
    serialize::InputArchive nested;
    IValue value;
    if (archive.try_read(key, nested)) {
      serialize::OutputArchive copy_of_nested = copy_of(nested);
      copy.write(key, copy_of_nested);
    } else if (archive.try_read(key, value)) {
      copy.write(key, value);
    }
  }
  return copy;
}

TEST_F(Eval, RefusesSettingsThatDoNotFitTheModel) {
  const std::string changed = folder_.path("changed.ckpt");
  const auto error_with = [&](const Texts& values) {
    serialize::InputArchive checkpoint, model, settings;
    checkpoint.load_from(out_ + "/run-1/best.ckpt");
    checkpoint.read("model", model);
    checkpoint.read("settings", settings);
    serialize::OutputArchive root, model_copy = copy_of(model),
                                   settings_copy = copy_of(settings, values);
    root.write("model", model_copy);
    root.write("settings", settings_copy);
    root.save_to(changed);
    return run({"eval", changed, "--picture", folder_.path("c.png")}).err;
  };
  EXPECT_NE(error_with({{"class_names", R"(["one", "two"])"}})
                .find("the settings name 2 classes, but the model has 3"),
            std::string::npos);
  EXPECT_NE(error_with({{"input_mean", "[0.5]"}, {"input_deviation", "[1, 1]"}})
                .find("the settings have 1 mean values, but 2 deviations"),
            std::string::npos);
  EXPECT_NE(error_with({{"amp", "fp8"}}).find("'fp8' is not a dtype of autocast"),
            std::string::npos);
}

TEST_F(Eval, PredictsImages) {
  const std::string pictures = folder_.path("pictures");
  std::filesystem::create_directory(pictures);
  for (int64_t i = 0; i < 4; ++i)
    vision::write_png(images_[i].unsqueeze(0).to(kByte),
                      pictures + "/" + std::to_string(i) + ".png");
  write_bytes(pictures + "/notes.txt", "not an image");
  RunResult ran = run({"predict", out_, pictures, "--json"}, kOneThread);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  ASSERT_EQ(json.size(), 4U);
  const auto [probability, index] = softmax(scores(best_run()), 1).max(1);
  for (int64_t i = 0; i < 4; ++i) {
    const Json& entry = json[size_t(i)];
    EXPECT_EQ(entry["image"], pictures + "/" + std::to_string(i) + ".png");
    EXPECT_EQ(entry["index"], index[i].item<int64_t>());
    EXPECT_NEAR(entry["probability"], probability[i].item<double>(), 1e-5);
  }
  // The error names a damaged image, and the other images are still predicted.
  write_bytes(pictures + "/broken.png", "\x89PNG?");
  ran = run({"predict", out_, pictures}, kOneThread);
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.err.find("broken.png' is left out: "), std::string::npos) << ran.err;
  EXPECT_NE(ran.out.find("3.png"), std::string::npos) << ran.out;
  expect_failure(run({"predict", out_, folder_.path("none")}), 1, "no such file or folder");
}

TEST_F(Eval, ExportsWeights) {
  for (const char* name : {"w.pt", "w.npz", "w.safetensors"}) {
    const std::string file = folder_.path(name);
    const RunResult ran = run({"export", out_ + "/run-2/last.ckpt", file}, kOneThread);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto expected = io::load_safetensors(out_ + "/run-2/weights.safetensors");
    const io::NamedTensors exported = io::load_tensors(file);
    ASSERT_EQ(exported.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(exported[i].first, expected[i].first);
      EXPECT_TRUE(exported[i].second.equal(expected[i].second)) << exported[i].first;
    }
  }
}

TEST_F(Eval, ComparesFoldersAndNamesDamagedOnes) {
  const std::string damaged = folder_.path("damaged"), picture = folder_.path("compare.png");
  std::filesystem::create_directory(damaged);
  std::string results = bytes_of(out_ + "/results.json");
  write_bytes(damaged + "/results.json", results.substr(0, results.size() / 2));
  const std::string nested = folder_.path("nested");
  std::filesystem::create_directories(nested + "/results.json");
  const RunResult ran =
      run({"compare", out_, damaged, nested, folder_.path("none"), "--picture", picture});
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.err.find("damaged/results.json' is damaged: "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("cannot read '" + nested + "/results.json': it is a folder"),
            std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("none/results.json': No such file"), std::string::npos) << ran.err;
  std::istringstream lines(ran.out);
  std::string head, first;
  std::getline(lines, head);
  std::getline(lines, first);
  EXPECT_TRUE(head.starts_with("run ") && head.ends_with(" lr")) << head;
  EXPECT_TRUE(first.starts_with(out_ + " 1 ") && first.ends_with("0.001")) << first;
  EXPECT_EQ(bytes_of(picture).substr(1, 3), "PNG");
}

TEST_F(Eval, RefusesTargetsWithoutARun) {
  const std::string weights = out_ + "/run-1/weights.safetensors", last = out_ + "/run-1/last.ckpt";
  expect_failure(run({"eval", weights}), 1, "as a checkpoint of hearth train");
  const std::string whole = bytes_of(last);
  write_bytes(last, whole.substr(0, whole.size() / 2));
  expect_failure(run({"export", last, folder_.path("w.pt")}), 1, "cannot read '" + last + "'");
  expect_failure(run({"eval", folder_.path("nothing")}), 1, "no such file or folder");
  expect_failure(run({"eval", folder_.str()}), 1, "results.json'");
  expect_failure(run({"eval"}), 2, "run is required");
}

}  // namespace
}  // namespace hearth::testing
