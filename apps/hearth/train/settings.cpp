#include "settings.h"

#include "../text_table.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

constexpr const char* kChecksum = "_checksum";

/// "1x28x28".
std::string sizes_text(IntArrayRef sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

void check_same(serialize::InputArchive& archive, const io::Metadata& expected) {
  for (const auto& [name, value] : expected) {
    std::string saved;
    // Runs of older versions have none.
    if (name.ends_with(kChecksum) && !archive.contains(name)) continue;
    archive.read(name, saved);
    HEARTH_CHECK(saved == value, name, " is ", value, " now, but it was ", saved,
                 " then: config.toml or the images are not those of this run");
  }
}

}  // namespace

Settings::Settings(const TrainOptions& all, const RunOptions& own, const ImageSets& images)
    : network_{{"model", all.model},
               {"classes", std::to_string(images.classes)},
               {"image_size", sizes_text(images.train.images().sizes().slice(1))}},
      training_{{"data", all.data},
                {"limit", all.limit ? std::to_string(*all.limit) : "none"},
                {"training_images", std::to_string(images.train.count())},
                {"test_images", std::to_string(images.test.count())},
                {"optimizer", all.optimizer},
                {"lr", shortest(own.lr)},
                {"batch_size", std::to_string(own.batch_size)},
                {"seed", std::to_string(all.seed)}} {
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
