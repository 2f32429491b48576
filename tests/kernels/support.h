// Helpers of kernel tests: buffers with guard bytes, views of them, a context.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "core/backends.h"
#include "seam/view.h"

namespace hearth::testing {

/// A CPU context and the slot to which kernels report faults.
struct KernelContext {
  FaultSlot faults;
  Ctx ctx{cpu_backend(), Device(kCPU), nullptr, &faults};

  bool has_fault() const { return faults.fault != 0; }
  bool has_index_fault(int64_t index, int64_t dim, int64_t size) const {
    return faults.fault == static_cast<int32_t>(Fault::kIndexOutOfRange) &&
           faults.values[0] == index && faults.values[1] == dim && faults.values[2] == size;
  }
};

/// Elements with guard bytes on both sides.
template <class T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values)
      : size_(values.size()), bytes_(bytes() + 2 * kGuard, kMark) {
    for (size_t i = 0; i < size_; ++i) data()[i] = values[i];
  }
  Buffer(std::initializer_list<T> values) : Buffer(std::vector<T>(values)) {}
  explicit Buffer(size_t size, T value = T()) : Buffer(std::vector<T>(size, value)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() { return reinterpret_cast<T*>(bytes_.data() + kGuard); }
  T& operator[](size_t i) { return data()[i]; }
  size_t size() const { return size_; }
  std::vector<T> values() { return std::vector<T>(data(), data() + size_); }
  bool guards_intact() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (bytes_[i] != kMark || bytes_[kGuard + bytes() + i] != kMark) return false;
    return true;
  }

  View view(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
            int64_t offset = 0) {
    View result;
    result.data = data() + offset;
    result.dtype = dtype_of<T>;
    result.dim = static_cast<int8_t>(sizes.size());
    result.numel = 1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      result.sizes[d] = sizes[d];
      result.strides[d] = strides[d];
      result.numel *= sizes[d];
    }
    return result;
  }
  View view(const std::vector<int64_t>& sizes) {
    std::vector<int64_t> strides(sizes.size());
    int64_t stride = 1;
    for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) strides[d] = stride;
    return view(sizes, strides);
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kMark = 0xA5;
  size_t bytes() const { return size_ * sizeof(T); }

  size_t size_;
  std::vector<unsigned char> bytes_;
};

inline int64_t product(const std::vector<int64_t>& sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) result *= size;
  return result;
}

/// The element of a view at a row-major index.
template <class T>
T& at(const View& view, int64_t index) {
  int64_t offset = 0;
  for (int d = view.dim - 1; d >= 0; --d) {
    offset += index % view.sizes[d] * view.strides[d];
    index /= view.sizes[d];
  }
  return view.as<T>()[offset];
}

/// The coordinates of a row-major index.
inline std::vector<int64_t> coordinates(const View& view, int64_t index) {
  std::vector<int64_t> result(static_cast<size_t>(view.dim));
  for (int d = view.dim - 1; d >= 0; --d) {
    result[size_t(d)] = index % view.sizes[d];
    index /= view.sizes[d];
  }
  return result;
}

template <class T>
T& at(const View& view, std::span<const int64_t> position) {
  int64_t offset = 0;
  for (size_t d = 0; d < position.size(); ++d) offset += position[d] * view.strides[d];
  return view.as<T>()[offset];
}
template <class T>
T& at(const View& view, std::initializer_list<int64_t> position) {
  return at<T>(view, std::span(position.begin(), position.size()));
}

/// The view with two dimensions swapped.
inline View transposed(View view, int a, int b) {
  std::swap(view.sizes[a], view.sizes[b]);
  std::swap(view.strides[a], view.strides[b]);
  return view;
}

/// Pseudo-random whole numbers below 16, exact in every dtype.
template <class T>
std::vector<T> small_numbers(size_t count, uint32_t seed = 1) {
  std::vector<T> result(count);
  uint32_t state = seed;
  for (auto&& value : result) {
    state = state * 1664525u + 1013904223u;
    value = T(static_cast<float>(state >> 28));
  }
  return result;
}

/// The type in which kernels add elements of type T.
template <class T>
using Total = std::conditional_t<is_reduced_float(dtype_of<T>), float, T>;

}  // namespace hearth::testing
