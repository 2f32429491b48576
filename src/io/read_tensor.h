#pragma once

#include "hearth/tensor.h"
#include "io/bytes.h"

namespace hearth::io {

/// The bytes [begin, end) of a file as a tensor of these sizes. If may_map, a large tensor maps the
/// file's pages copy-on-write. Bools become 0 or 1.
Tensor read_tensor(const Bytes& bytes, uint64_t begin, uint64_t end, IntArrayRef sizes,
                   ScalarType type, bool may_map);
/// A tensor over `base`'s memory, with a version and a history of its own. Throws
/// "setStorage: …" if it does not fit.
Tensor tensor_over(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t offset);

}  // namespace hearth::io
