#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/data.h"

namespace hearth::app {

/// Images and their labels. A batch is copied in one operation.
class Images : public data::BatchDataset<Images, data::Example<>> {
 public:
  Images() = default;
  Images(Tensor images, Tensor labels) : images_(std::move(images)), labels_(std::move(labels)) {}

  data::Example<> get_batch(ArrayRef<size_t> indices) override;
  std::optional<size_t> size() const override { return static_cast<size_t>(count()); }
  int64_t count() const { return images_.size(0); }
  /// `[N, C, H, W]`.
  const Tensor& images() const { return images_; }
  const Tensor& labels() const { return labels_; }
  /// The first `count` images.
  Images first(int64_t count) const;

 private:
  Tensor images_, labels_;
};

struct ImageSets {
  Images train, test;
  int64_t classes = 0;
  /// Names ("training_images", …) and checksums of the tensors.
  std::vector<std::pair<std::string, std::string>> checksums = {};
};

const std::vector<std::string>& data_names();

/// Maps the argument of --data: a dataset's name is returned unchanged, a folder as its full path.
/// "./name" is a folder even if there is a dataset `name`.
std::string data_source(const std::string& typed);

/// Loads a dataset by name, or from a folder with files named like MNIST's; at most the first
/// `limit` images of each set.
ImageSets load_images(const std::string& source, std::optional<int64_t> limit);

/// A note if some classes have no training image, else empty.
std::string note_on_classes(const ImageSets& sets);

}  // namespace hearth::app
