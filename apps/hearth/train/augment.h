#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hearth/tensor.h"

namespace hearth::app {

/// The names that --augment accepts.
const std::vector<std::string>& augmentation_names();

/// A function that applies these random changes one after the other to an image [channels, h, w] of
/// numbers from 0 to 1. Throws for an unknown name.
std::function<Tensor(Tensor)> make_augmentation(const std::vector<std::string>& names,
                                                int64_t height, int64_t width);

}  // namespace hearth::app
