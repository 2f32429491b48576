#pragma once

#include <cstddef>
#include <optional>

#include "ATen/core/Tensor.h"
#include "c10/core/Allocator.h"

namespace hearth::detail {

/// A tensor in memory of this allocator; the set of dispatch keys is LibTorch's.
template <class Keys>
Tensor empty_generic(IntArrayRef size, Allocator* allocator, const Keys&, ScalarType type,
                     std::optional<MemoryFormat> format) {
  const Tensor like = empty(size, TensorOptions(type).device(kMeta), format);
  const size_t bytes = static_cast<size_t>(like.numel()) * like.itemsize();
  const Tensor result = empty({0}, TensorOptions(type));
  return result.set_(Storage(Storage::use_byte_size_t(), bytes, allocator, true), 0, like.sizes(),
                     like.strides());
}

/// A new tensor of the CPU.
inline Tensor empty_cpu(IntArrayRef size, ScalarType type, bool pin_memory = false,
                        std::optional<MemoryFormat> format = {}) {
  return empty(size, TensorOptions(type).pinned_memory(pin_memory), format);
}
inline Tensor empty_cpu(IntArrayRef size, std::optional<ScalarType> type, std::optional<Layout>,
                        std::optional<Device>, std::optional<bool> pin_memory,
                        std::optional<MemoryFormat> format) {
  return empty_cpu(size, type.value_or(get_default_dtype_as_scalartype()),
                   pin_memory.value_or(false), format);
}

}  // namespace hearth::detail
