#pragma once

#include "hearth/tensor.h"
#include "io/bytes.h"

namespace hearth::io {

/// Reads a tensor from the bytes of an IDX file, gzipped or not.
Tensor read_idx(BytesPtr bytes);

}  // namespace hearth::io
