#pragma once

#include <cstddef>
#include <cstdint>

#include "hearth/device.h"
#include "kernels/cuda/lane.h"

namespace hearth::cuda {

/// Divides numbers below 2^31 by one that is known at the launch, with a multiplication instead of a division.
struct FastDivisor {
  uint32_t divisor = 1, magic = 1, shift = 0;

  FastDivisor() = default;
  /// divisor: 1 to 2^31 - 1.
  explicit FastDivisor(uint32_t d) : divisor(d) {
    while (shift < 31 && (uint32_t{1} << shift) < d) ++shift;
    const uint64_t rest = (uint64_t{1} << shift) - d;
    magic = static_cast<uint32_t>((rest << 32) / d + 1);
  }
  /// n / divisor; the remainder goes to `rest`.
  __device__ __forceinline__ uint32_t divide(uint32_t n, uint32_t& rest) const {
    const uint32_t quotient = (__umulhi(n, magic) + n) >> shift;
    rest = n - quotient * divisor;
    return quotient;
  }
};

/// Turns an element's number into its byte offset in each of kOperands strided operands.
template <int kOperands>
struct Offsets {
  int dim = 0;
  FastDivisor sizes[kMaxDims];
  int64_t byte_strides[kMaxDims][kOperands];

  void set_sizes(int count, const int64_t* values) {
    dim = count;
    for (int d = 0; d < dim; ++d) sizes[d] = FastDivisor(static_cast<uint32_t>(values[d]));
  }
  /// Sets an operand's strides, given in elements of `bytes` each.
  void set_strides(int operand, const int64_t* strides, size_t bytes) {
    for (int d = 0; d < dim; ++d) byte_strides[d][operand] = strides[d] * static_cast<int64_t>(bytes);
  }

  /// The offsets of element `index` in the first n operands.
  template <int n>
  __device__ __forceinline__ void find(uint32_t index, int64_t (&offsets)[n]) const {
#pragma unroll
    for (int k = 0; k < n; ++k) offsets[k] = 0;
    for (int d = dim - 1; d >= 0; --d) {
      uint32_t coordinate;
      index = sizes[d].divide(index, coordinate);
#pragma unroll
      for (int k = 0; k < n; ++k) offsets[k] += coordinate * byte_strides[d][k];
    }
  }
};

}  // namespace hearth::cuda
