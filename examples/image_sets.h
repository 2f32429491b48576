// Sets of labelled images that stay on the device, the accuracy of a network on them, and random
// changes of a batch in a few large operations.
#pragma once

#include <hearth/hearth.h>

namespace image_sets {

using namespace hearth;

struct Set {
  Tensor images, labels;  // [N, C, H, W] and [N]
};

/// The share of images that the network classifies correctly; leaves it in training mode.
inline double accuracy(nn::Sequential& model, const Set& set) {
  const InferenceMode inference;
  model->eval();
  Tensor right = zeros({}, set.labels.options());
  const auto images = set.images.split(500), labels = set.labels.split(500);
  for (size_t i = 0; i < images.size(); ++i)
    right += model->forward(images[i]).argmax(1).eq(labels[i]).sum();
  model->train();
  return right.item<double>() / double(set.labels.numel());
}

/// Mirrors each picture of [N, C, H, W] with probability 1/2.
inline Tensor flip(const Tensor& pictures) {
  const Tensor chosen = rand({pictures.size(0), 1, 1, 1}).lt(0.5).to(pictures.device());
  return where(chosen, pictures.flip(3), pictures);
}

/// Moves each picture by up to `pixels` in each direction; zeros fill the edge.
inline Tensor shift(const Tensor& pictures, int64_t pixels) {
  const int64_t count = pictures.size(0), height = pictures.size(2), width = pictures.size(3);
  const TensorOptions indices = TensorOptions(kLong).device(pictures.device());
  const auto offsets = [&] { return randint(2 * pixels + 1, {count}, indices); };
  const Tensor padded = pad(pictures, {pixels, pixels, pixels, pixels});
  // A view of all crops that have the picture's size: [N, C, offsets, offsets, H, W].
  const Tensor parts = padded.unfold(2, height, 1).unfold(3, width, 1);
  return parts.index({arange(count, indices), indexing::Slice(), offsets(), offsets()});
}

}  // namespace image_sets
