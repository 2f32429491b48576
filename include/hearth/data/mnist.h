#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "hearth/data/datasets.h"

namespace hearth::data::datasets {

/// Handwritten digits: float images [1, 28, 28] with values from 0 to 1 and targets 0 to 9. The
/// folder `root` holds the four files of yann.lecun.com/exdb/mnist, gzipped or not.
class HEARTH_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };  ///< 60,000 training or 10,000 test examples

  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  const Tensor& images() const { return images_; }    ///< all images, [count, 1, 28, 28]
  const Tensor& targets() const { return targets_; }  ///< all targets, [count]
  BatchedTensors batched() const { return {images_, targets_}; }  ///< all examples

 protected:
  /// `hint`: advice in the error for missing files.
  MNIST(const std::string& root, Mode mode, const std::string& hint);

 private:
  Mode mode_;
  Tensor images_, targets_;
};

/// Photos of clothes in MNIST's format. The default folder is that of the Debian package
/// dataset-fashion-mnist.
class HEARTH_API FashionMNIST : public MNIST {
 public:
  static constexpr const char* kDebianFolder = "/usr/share/datasets/fashion-mnist";

  explicit FashionMNIST(const std::string& root = kDebianFolder, Mode mode = Mode::kTrain);
  explicit FashionMNIST(Mode mode);
};

}  // namespace hearth::data::datasets
