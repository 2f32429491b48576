#pragma once

#include <string>

#include "hearth/tensor.h"

namespace hearth::io {

/// Reads a file in the IDX format of MNIST, gzipped or not, as a tensor of the file's dtype.
HEARTH_API Tensor load_idx(const std::string& path);

}  // namespace hearth::io
