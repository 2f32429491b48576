#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "hearth/data/datasets.h"

namespace hearth::data::datasets {

/// Handwritten digits: images as floats in [0, 1] of {1, 28, 28}, targets 0 to 9. The folder holds
/// the four files of yann.lecun.com/exdb/mnist, gzipped or not.
class HEARTH_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  /// All of them, {count, 1, 28, 28} and {count}.
  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }

 protected:
  /// `how_to_get`: the advice for who has no such files.
  MNIST(const std::string& root, Mode mode, const std::string& how_to_get);

 private:
  Mode mode_;
  Tensor images_, targets_;
};

/// Photos of clothes in MNIST's form. The default folder is that of Debian's package
/// dataset-fashion-mnist.
class HEARTH_API FashionMNIST : public MNIST {
 public:
  static constexpr const char* kDebianFolder = "/usr/share/datasets/fashion-mnist";

  explicit FashionMNIST(const std::string& root = kDebianFolder, Mode mode = Mode::kTrain);
  explicit FashionMNIST(Mode mode);
};

}  // namespace hearth::data::datasets
