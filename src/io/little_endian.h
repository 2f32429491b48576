#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "hearth/tensor.h"
#include "io/bytes.h"

namespace hearth::io {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

/// The number at `offset`; it must lie entirely in `bytes`.
template <class T>
T number_at(const Bytes& bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void append_number(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The bytes of a contiguous tensor on the CPU.
inline std::string_view bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

/// Reverses the bytes of each number; a complex element has two numbers.
inline void swap_bytes(Tensor& tensor) {
  const size_t width = element_size(to_real(tensor.scalar_type()));
  auto* bytes = static_cast<char*>(tensor.data_ptr());
  for (size_t i = 0; width > 1 && i < tensor.nbytes(); i += width)
    std::reverse(bytes + i, bytes + i + width);
}

}  // namespace hearth::io
