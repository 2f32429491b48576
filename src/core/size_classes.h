#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hearth::detail {

/// The sizes of small blocks: multiples of 64 up to 512, then four per doubling up to 32 KiB.
inline constexpr size_t kBlockAlignment = 64;
inline constexpr size_t kLargestSmall = 32 * 1024;
inline constexpr int kSizeClasses = 32;

inline constexpr std::array<uint32_t, kSizeClasses> kClassSizes = [] {
  std::array<uint32_t, kSizeClasses> sizes{};
  uint32_t size = 0, step = kBlockAlignment;
  for (uint32_t& each : sizes) {
    if (size >= 8 * step) step *= 2;
    each = size += step;
  }
  return sizes;
}();
static_assert(kClassSizes.back() == kLargestSmall);

namespace size_classes {
inline constexpr size_t kSteps = kLargestSmall / kBlockAlignment;
/// Entry i is the class of requests of up to (i + 1) * kBlockAlignment bytes.
inline constexpr std::array<uint8_t, kSteps> kClassOfStep = [] {
  std::array<uint8_t, kSteps> classes{};
  uint8_t size_class = 0;
  for (size_t step = 0; step < kSteps; ++step) {
    if ((step + 1) * kBlockAlignment > kClassSizes[size_class]) ++size_class;
    classes[step] = size_class;
  }
  return classes;
}();
}  // namespace size_classes

/// The class of a request of 1 to kLargestSmall bytes.
inline int size_class_of(size_t bytes) {
  return size_classes::kClassOfStep[(bytes - 1) / kBlockAlignment];
}

}  // namespace hearth::detail
