#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/data.h"

namespace hearth::app {

/// Images and what they show. A batch is taken out in one piece.
class Images : public data::BatchDataset<Images, data::Example<>> {
 public:
  Images() = default;
  Images(Tensor images, Tensor labels) : images_(std::move(images)), labels_(std::move(labels)) {}

  data::Example<> get_batch(ArrayRef<size_t> indices) override;
  std::optional<size_t> size() const override { return static_cast<size_t>(count()); }
  int64_t count() const { return images_.size(0); }
  /// {count, channels, height, width}.
  const Tensor& images() const { return images_; }
  const Tensor& labels() const { return labels_; }
  /// The first ones.
  Images first(int64_t count) const;

 private:
  Tensor images_, labels_;
};

struct ImageSets {
  Images train, test;
  int64_t classes = 0;
  /// Of the data that is used, by what it is: "training_images", …
  std::vector<std::pair<std::string, std::string>> checksums = {};
};

const std::vector<std::string>& data_names();

/// What was typed for the data: a data set's name as it is, else a folder's full path. A folder
/// with a data set's name is meant by "./name".
std::string data_source(const std::string& typed);

/// Reads a data set by name, or from a folder with files named like MNIST's; of each set no more
/// than the first `limit`.
ImageSets load_images(const std::string& source, std::optional<int64_t> limit);

/// What to know of the classes: that some of them have no image; empty if all have.
std::string note_on_classes(const ImageSets& sets);

}  // namespace hearth::app
