#pragma once

#include "hearth/io/safetensors.h"
#include "io/zip_reader.h"

namespace hearth::io {

/// The array of the .npy file in [begin, end).
Tensor read_npy(const Bytes& bytes, uint64_t begin, uint64_t end);
/// The arrays of an archive of .npy files.
NamedTensors read_npz(const ZipReader& zip);

}  // namespace hearth::io
