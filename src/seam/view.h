#pragma once

#include <cstdint>
#include <cstring>

#include "hearth/device.h"
#include "hearth/dtype.h"

namespace hearth {

/// A tensor as an argument of kernels: an address that kernels can use, a dtype, sizes and strides
/// (in elements). It does not own the memory, which stays alive because it is freed in stream
/// order.
struct View {
  void* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  int8_t dim = 0;
  int64_t numel = 0;
  int64_t sizes[kMaxDims];
  int64_t strides[kMaxDims];

  View() = default;
  View(const View& other) { *this = other; }
  View& operator=(const View& other) {
    data = other.data;
    dtype = other.dtype;
    dim = other.dim;
    numel = other.numel;
    std::memcpy(sizes, other.sizes, sizeof(int64_t) * size_t(dim));
    std::memcpy(strides, other.strides, sizeof(int64_t) * size_t(dim));
    return *this;
  }

  bool defined() const { return dtype != ScalarType::Undefined; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  bool contiguous() const {
    int64_t expected = 1;
    for (int d = dim - 1; d >= 0; --d) {
      if (sizes[d] != 1 && strides[d] != expected) return false;
      expected *= sizes[d];
    }
    return true;
  }
  /// Replaces the strides by row-major ones.
  void make_contiguous() {
    int64_t stride = 1;
    for (int d = dim - 1; d >= 0; --d) {
      strides[d] = stride;
      stride *= sizes[d];
    }
  }
};

/// The maximum number of inputs of a pointwise functor.
inline constexpr int kMaxPointwiseInputs = 3;

}  // namespace hearth
