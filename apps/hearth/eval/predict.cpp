#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "../choices.h"
#include "../names.h"
#include "../text_table.h"
#include "../train/evaluate.h"
#include "../train/fit_image.h"
#include "../train/trained.h"
#include "commands.h"
#include "hearth/hearth.h"
#include "hearth/vision/image.h"

namespace hearth::app {

namespace {

namespace fs = std::filesystem;

struct PredictOptions {
  std::string run, device;
  std::vector<std::string> paths;
  bool as_json = false;
};

struct Prediction {
  std::string path;
  int64_t index;  // of the class
  double probability;
};

bool is_image(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

/// The paths, with each folder replaced by the images in and below it, sorted by path.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    HEARTH_CHECK(fs::exists(path), "cannot read '", printable(path), "': no such file or folder");
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file() && is_image(entry.path())) found.push_back(entry.path().string());
    HEARTH_CHECK(!found.empty(), "the folder '", printable(path), "' has no PNG or JPEG files");
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

/// An image with the size and the channels that the network was trained on.
Tensor read_for(const Trained& trained, const std::string& path) {
  const std::vector<int64_t>& sizes = trained.input_sizes;
  const auto mode = sizes[0] == 1 ? vision::ImageReadMode::GRAY : vision::ImageReadMode::RGB;
  return fit_image(vision::read_image(path, mode), sizes[1], sizes[2]);
}

Prediction predict(Trained& trained, const std::string& path, Device device) {
  const NoGradGuard no_grad;
  const Tensor image = read_for(trained, path).unsqueeze(0).to(device);
  const Tensor scores = scores_of(trained.model, image, device, amp_dtype(trained.amp));
  const auto [probability, index] = softmax(scores[0], 0).max(0);
  return {path, index.item<int64_t>(), probability.item<double>()};
}

void print(const std::vector<Prediction>& predictions, const Trained& trained, bool as_json) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  TextTable table({"image", "class", "probability"});
  for (const auto& [path, index, probability] : predictions) {
    const std::string name = trained.class_name(index);
    table.add({printable(path), printable(name), fixed(probability, 4)});
    json.push_back(
        {{"image", path}, {"class", name}, {"index", index}, {"probability", probability}});
  }
  using Json = nlohmann::ordered_json;
  std::cout << (as_json ? json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                        : table.text());
}

void predict_images(const PredictOptions& options) {
  const Device device = device_of(options.device);
  Trained trained = load_trained(options.run, device);
  HEARTH_CHECK(trained.input_sizes.size() == 3, "the model of '", trained.checkpoint,
               "' was not trained on images, but on '", trained.data, "'");
  std::vector<Prediction> predictions;
  bool has_failed = false;
  for (const std::string& path : files_of(options.paths)) {
    try {
      predictions.push_back(predict(trained, path, device));
    } catch (const OutOfMemoryError&) {
      throw;
    } catch (const Error& error) {
      has_failed = true;
      std::cerr << "hearth: '" << printable(path)
                << "' is left out: " << printable_lines(error.what()) << "\n";
    }
  }
  print(predictions, trained, options.as_json);
  if (has_failed) throw CLI::RuntimeError(1);
}

}  // namespace

void add_predict(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "predict", "The class of each image and its probability, predicted by a trained network");
  auto options = std::make_shared<PredictOptions>();
  add_run(*command, options->run);
  suggest_values(
      command->add_option("images", options->paths, "PNG or JPEG files, or folders with them"),
      {{}, Values::Paths::kFiles})
      ->required();
  add_device(*command, options->device);
  command->add_flag("--json", options->as_json, "Print JSON");
  command->footer("Example: hearth predict runs/resnet18-photos holiday.jpg");
  command->callback([options] { predict_images(*options); });
}

}  // namespace hearth::app
