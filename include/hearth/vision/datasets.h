#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/data/datasets.h"
#include "hearth/tensor.h"
#include "hearth/vision/image.h"

// torchvision.datasets.
namespace hearth::vision::datasets {

/// 32 x 32 colour images of ten classes, from the files of cifar-10-binary.tar.gz. Examples: floats
/// [3, 32, 32] from 0 to 1, and an int64 class.
class HEARTH_API CIFAR10 : public data::datasets::Dataset<CIFAR10> {
 public:
  explicit CIFAR10(const std::string& root, bool train = true);

  data::Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  const Tensor& images() const { return images_; }    ///< bytes [size, 3, 32, 32]
  const Tensor& targets() const { return targets_; }  ///< int64 [size]
  static const std::vector<std::string>& classes();   ///< the names of the classes

 private:
  Tensor images_, targets_;
};

/// CIFAR10 with a hundred classes, from the files of cifar-100-binary.tar.gz.
class HEARTH_API CIFAR100 : public data::datasets::Dataset<CIFAR100> {
 public:
  explicit CIFAR100(const std::string& root, bool train = true);

  data::Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  const Tensor& images() const { return images_; }    ///< bytes [size, 3, 32, 32]
  const Tensor& targets() const { return targets_; }  ///< int64 [size]

 private:
  Tensor images_, targets_;
};

/// The PNG and JPEG files below `root`, one folder for each class: root/<class>/**/<image>.
/// Examples: bytes [3, height, width] (or the result of `transform`), and an int64 class.
class HEARTH_API ImageFolder : public data::datasets::Dataset<ImageFolder> {
 public:
  explicit ImageFolder(const std::string& root, std::function<Tensor(Tensor)> transform = {});

  data::Example<> get(size_t index) override;
  std::optional<size_t> size() const override { return samples_.size(); }
  const std::vector<std::string>& classes() const { return classes_; }  ///< sorted names
  /// The files and their classes.
  const std::vector<std::pair<std::string, int64_t>>& samples() const { return samples_; }

 private:
  std::function<Tensor(Tensor)> transform_;
  std::vector<std::string> classes_;
  std::vector<std::pair<std::string, int64_t>> samples_;
};

}  // namespace hearth::vision::datasets
