#pragma once

#include <cstddef>
#include <cstdint>

#include "hearth/device.h"
#include "kernels/cuda/lane.h"
#include "kernels/cuda/loop.h"

namespace hearth::cuda {

/// n / divisor; not inlined, because its code is long and only runs for huge tensors.
__device__ __noinline__ inline int64_t divide_large(int64_t n, int64_t divisor) {
  return n / divisor;
}

/// Divides by a number that is fixed at the launch; by a multiplication if both numbers are below
/// 2^31.
struct FastDivisor {
  int64_t divisor = 1;
  uint32_t magic = 1, shift = 0;

  FastDivisor() = default;
  explicit FastDivisor(int64_t d) : divisor(d) {
    if (d == 0 || d > INT32_MAX) return;  // for divide_large(), or never used
    while ((int64_t{1} << shift) < d) ++shift;
    magic =
        static_cast<uint32_t>(((((uint64_t{1} << shift) - uint64_t(d)) << 32) / uint64_t(d)) + 1);
  }
  /// Returns n / divisor for n >= 0, and the remainder in `remainder`.
  __device__ __forceinline__ int64_t divide(int64_t n, int64_t& remainder) const {
    if ((n | divisor) >> 31 == 0) [[likely]] {
      const uint32_t small = static_cast<uint32_t>(n);
      const uint32_t quotient = (__umulhi(small, magic) + small) >> shift;
      remainder = small - quotient * static_cast<uint32_t>(divisor);
      return quotient;
    }
    const int64_t quotient = divide_large(n, divisor);
    remainder = n - quotient * divisor;
    return quotient;
  }
};

/// Converts an element's row-major index to its byte offset in each of kOperands strided operands.
template <int kOperands>
struct Offsets {
  int dim = 0;
  FastDivisor sizes[kMaxDims];
  int64_t byte_strides[kMaxDims][kOperands];

  Offsets() = default;
  explicit Offsets(const Loop& loop) : dim(loop.dim) {
    for (int d = 0; d < dim; ++d) {
      sizes[d] = FastDivisor(loop.sizes[d]);
      for (int k = 0; k < loop.operands; ++k) byte_strides[d][k] = loop.byte_strides[d][k];
    }
  }

  /// Finds the offsets of element `index` in operands first, …, first + n - 1.
  template <int n>
  __device__ __forceinline__ void find(int64_t index, int64_t (&offsets)[n], int first = 0) const {
#pragma unroll
    for (int k = 0; k < n; ++k) offsets[k] = 0;
    for (int d = dim - 1; d > 0; --d) {
      int64_t coordinate;
      index = sizes[d].divide(index, coordinate);
#pragma unroll
      for (int k = 0; k < n; ++k) offsets[k] += coordinate * byte_strides[d][first + k];
    }
    if (dim == 0) return;
#pragma unroll
    for (int k = 0; k < n; ++k) offsets[k] += index * byte_strides[0][first + k];
  }
};

}  // namespace hearth::cuda
