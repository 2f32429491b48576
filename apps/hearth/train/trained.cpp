#include "trained.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "../names.h"
#include "hearth/hearth.h"
#include "hearth/io/checkpoint.h"
#include "models.h"
#include "recorded.h"
#include "run_folder.h"
#include "settings.h"

namespace hearth::app {

namespace {

namespace fs = std::filesystem;

/// The best or the last checkpoint in the folder of one run; empty if there is none.
std::string checkpoint_in(const std::string& folder) {
  for (const char* name : {kBestCheckpoint, kLastCheckpoint})
    if (const std::string path = folder + "/" + name; fs::exists(path)) return path;
  return "";
}

std::string text_in(serialize::InputArchive& settings, const std::string& name) {
  std::string text;
  settings.read(name, text);
  return text;
}

int64_t whole_number_in(const std::string& text) {
  size_t end = 0;
  int64_t number = 0;
  try {
    number = std::stoll(text, &end);
  } catch (const std::exception&) {
  }
  HEARTH_CHECK(number > 0 && end == text.size(), "'", printable(text),
               "' is not a whole number above 0");
  return number;
}

/// The numbers in "1x28x28".
std::vector<int64_t> sizes_in(const std::string& text) {
  std::vector<int64_t> sizes;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find('x', start), text.size());
    sizes.push_back(whole_number_in(text.substr(start, end - start)));
    start = end + 1;
  }
  return sizes;
}

std::vector<double> numbers_in(serialize::InputArchive& settings, const std::string& name) {
  return nlohmann::json::parse(text_in(settings, name)).get<std::vector<double>>();
}

void read_settings(serialize::InputArchive& settings, Trained& trained) {
  trained.name = current_model_name(text_in(settings, "model"));
  trained.classes = whole_number_in(text_in(settings, "classes"));
  trained.input_sizes = sizes_in(text_in(settings, "image_size"));
  trained.data = text_in(settings, "data");
  if (const std::string limit = text_in(settings, "limit"); limit != "none")
    trained.limit = whole_number_in(limit);
  trained.amp = settings.contains("amp") ? text_in(settings, "amp") : "off";
  if (settings.contains(kMean)) {
    trained.standard = Standard{numbers_in(settings, kMean), numbers_in(settings, kDeviation)};
    const auto& [mean, deviation] = *trained.standard;
    HEARTH_CHECK(mean.size() == deviation.size(), "the settings have ", mean.size(),
                 " mean values, but ", deviation.size(), " deviations");
  }
  if (settings.contains("class_names")) {
    trained.class_names =
        nlohmann::json::parse(text_in(settings, "class_names")).get<std::vector<std::string>>();
    HEARTH_CHECK(std::ssize(trained.class_names) == trained.classes, "the settings name ",
                 trained.class_names.size(), " classes, but the model has ", trained.classes);
  }
}

void read_weights(serialize::InputArchive& archive, nn::Module& model) {
  serialize::InputArchive average, weights;
  if (archive.try_read("average", average))
    average.read("module", weights);
  else
    archive.read("model", weights);
  model.load(weights);
}

}  // namespace

std::string Trained::class_name(int64_t index) const {
  const auto i = static_cast<size_t>(index);
  return i < class_names.size() ? class_names[i] : std::to_string(index);
}

std::string find_checkpoint(const std::string& path) {
  HEARTH_CHECK(fs::exists(path), "cannot read '", printable(path), "': no such file or folder");
  if (!fs::is_directory(path)) return path;
  if (const std::string own = checkpoint_in(path); !own.empty()) return own;
  std::string best;
  double accuracy = -1;
  for (const RecordedRun& run : read_results(path).runs) {
    const std::string checkpoint = checkpoint_in(path + "/run-" + std::to_string(run.number));
    if (checkpoint.empty() || best_accuracy(run.epochs) < accuracy) continue;
    if (best.empty() || best_accuracy(run.epochs) > accuracy) best = checkpoint;
    accuracy = best_accuracy(run.epochs);
  }
  HEARTH_CHECK(!best.empty(), "'", printable(path), "' has no checkpoint");
  return best;
}

Trained load_trained(const std::string& path, Device device) {
  Trained trained;
  trained.checkpoint = find_checkpoint(path);
  try {
    io::Checkpoint::check_file(trained.checkpoint);
    serialize::InputArchive archive, settings;
    archive.load_from(trained.checkpoint);
    archive.read("settings", settings);
    read_settings(settings, trained);
    trained.model = make_model(trained.name, trained.input_sizes, trained.classes);
    read_weights(archive, *trained.model.ptr());
  } catch (Error& error) {
    error.append_line("while reading '" + printable(trained.checkpoint) +
                      "' as a checkpoint of hearth train");
    throw;
  } catch (const nlohmann::json::exception& error) {
    throw Error("'" + printable(trained.checkpoint) + "' has damaged settings: " + error.what());
  }
  trained.model.ptr()->to(device);
  trained.model.ptr()->eval();
  return trained;
}

}  // namespace hearth::app
