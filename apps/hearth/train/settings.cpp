#include "settings.h"

#include "../text_table.h"
#include "hearth/error.h"
#include "models.h"

namespace hearth::app {

namespace {

constexpr const char *kModel = "model", *kAmp = "amp", *kChecksum = "_checksum";

/// "1x28x28".
std::string sizes_text(IntArrayRef sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

void check_same(serialize::InputArchive& archive, const io::Metadata& expected) {
  for (const auto& [name, value] : expected) {
    std::string saved;
    // Checkpoints of older versions have no checksums and no mixed precision.
    if ((name.ends_with(kChecksum) || name == kAmp) && !archive.contains(name)) continue;
    archive.read(name, saved);
    if (name == kModel) saved = current_model_name(saved);
    HEARTH_CHECK(saved == value, name, " is ", value, ", but was ", saved,
                 " in this run: config.toml or the data has changed");
  }
}

}  // namespace

Settings::Settings(const TrainOptions& options, const RunOptions& point, const ImageSets& images)
    : network_{{kModel, options.model},
               {"classes", std::to_string(images.classes)},
               {"image_size", sizes_text(images.train.images().sizes().slice(1))}},
      training_{{"data", options.data},
                {"limit", options.limit ? std::to_string(*options.limit) : "none"},
                {"training_images", std::to_string(images.train.count())},
                {"test_images", std::to_string(images.test.count())},
                {"optimizer", options.optimizer},
                {kAmp, options.amp},
                {"lr", shortest(point.lr)},
                {"batch_size", std::to_string(point.batch_size)},
                {"seed", std::to_string(options.seed)}} {
  for (const auto& [name, checksum] : images.checksums)
    data_.emplace_back(name + kChecksum, checksum);
}

void Settings::save(serialize::OutputArchive& archive) const {
  for (const io::Metadata* part : {&network_, &training_, &data_})
    for (const auto& [name, value] : *part) archive.write(name, value);
}

void Settings::load(serialize::InputArchive& archive) const {
  for (const io::Metadata* part : {&training_, &network_, &data_}) check_same(archive, *part);
}

}  // namespace hearth::app
