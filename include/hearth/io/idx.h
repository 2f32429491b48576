#pragma once

#include <string>

#include "hearth/tensor.h"

namespace hearth::io {

/// Reads a file in the IDX format, gzipped or not: a tensor of bytes, integers or floats.
HEARTH_API Tensor load_idx(const std::string& path);

}  // namespace hearth::io
