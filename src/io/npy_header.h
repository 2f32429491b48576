#pragma once

#include <string>
#include <vector>

#include "hearth/tensor.h"
#include "io/bytes.h"

namespace hearth::io {

/// The header of a .npy file.
struct NpyHeader {
  ScalarType type = ScalarType::Undefined;
  bool is_big_endian = false, is_fortran = false;
  std::vector<int64_t> sizes;
  uint64_t data_begin = 0;  // in the file
};

/// Whether the bytes begin like a .npy file.
bool is_npy(const Bytes& bytes, uint64_t begin, uint64_t end);
/// Reads the header of the .npy file in [begin, end); throws unless its data fill the rest.
NpyHeader read_npy_header(const Bytes& bytes, uint64_t begin, uint64_t end);
/// The header of a contiguous tensor; throws if NumPy does not have its dtype.
std::string npy_header(const Tensor& tensor);

}  // namespace hearth::io
