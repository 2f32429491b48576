#pragma once

#include <cstdint>
#include <vector>

#include "c10/namespaces.h"
#include "hearth/shape.h"

namespace c10 {

inline MemoryFormat get_contiguous_memory_format() { return MemoryFormat::Contiguous; }

/// The strides of channels_last for the sizes of a batch of images, or of one image.
inline std::vector<int64_t> get_channels_last_strides_2d(IntArrayRef sizes) {
  const size_t batch = sizes.size() - 3;
  std::vector<int64_t> strides(sizes.size());
  strides[batch] = 1;
  strides[batch + 2] = sizes[batch];
  strides[batch + 1] = strides[batch + 2] * sizes[batch + 2];
  if (batch == 1) strides[0] = strides[batch + 1] * sizes[batch + 1];
  return strides;
}

}  // namespace c10

#define LEGACY_CONTIGUOUS_MEMORY_FORMAT ::c10::get_contiguous_memory_format()
