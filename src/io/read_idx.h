#pragma once

#include "hearth/tensor.h"
#include "io/bytes.h"

namespace hearth::io {

/// A tensor from an IDX file's content, gzipped or not.
Tensor read_idx(BytesPtr bytes);

}  // namespace hearth::io
