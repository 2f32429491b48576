#pragma once

// Writes of several values to one element, with the same result in every run: the positions are
// sorted by the element that they write to, and the values of each element are combined in that
// order. Half types are combined in float32, so that small values are not lost. Each thread
// has one position at a time. Bound by the sort's passes over 16 bytes per position.
//
// A Finder is a trivially copyable class with
//   find(i, offset)  whether position i writes to an element, and its byte offset from base();
//                    reports faults
//   value(i)         the address of position i's value
//   base()           the address to which offsets refer

#include <cub/device/device_radix_sort.cuh>

#include <bit>
#include <utility>

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/error.h"
#include "kernels/cuda/launch.h"
#include "seam/view.h"

namespace hearth::cuda {

/// The offset of positions that write to no element; the largest in sorted order.
inline constexpr uint64_t kNowhere = UINT64_MAX;

inline constexpr int kWarpSize = 32;

/// Positions and the byte offsets of the elements that they write to.
struct WritePositions {
  int64_t count;
  uint64_t* offsets;
  int64_t* positions;
};

template <class Finder>
__global__ void __launch_bounds__(kBlock)
    find_offsets_kernel(const __grid_constant__ Finder finder, WritePositions to) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < to.count; i += step) {
    int64_t offset = 0;
    to.offsets[i] = finder.find(i, offset) ? static_cast<uint64_t>(offset) : kNowhere;
    to.positions[i] = i;
  }
}

template <class C>
__device__ __forceinline__ C shuffle_down(C value, int distance) {
  if constexpr (kIsComplex<C>)
    return C(__shfl_down_sync(~0u, value.real_, distance),
             __shfl_down_sync(~0u, value.imag_, distance));
  else
    return __shfl_down_sync(~0u, value, distance);
}

template <bool kMultiplies, class C>
__device__ __forceinline__ C combined(C a, C b) {
  if constexpr (kMultiplies)
    return a * b;
  else
    return a + b;
}

/// partial[i] = the combined values of those positions i, i + 1, … of i's warp that write to i's
/// element.
template <class T, bool kMultiplies, class Finder>
__global__ void __launch_bounds__(kBlock)
    combine_in_warps_kernel(const __grid_constant__ Finder finder, WritePositions sorted,
                            Register<T>* partial) {
  using C = Register<T>;
  const int64_t step = int64_t{gridDim.x} * kBlock;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  // All threads of a warp must take part in its shuffles, so the loop ends when the position of the
  // warp's first thread is beyond the end.
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i - lane < sorted.count; i += step) {
    const bool exists = i < sorted.count;
    const uint64_t offset = exists ? sorted.offsets[i] : kNowhere;
    C value = kMultiplies ? C(1) : C(0);
    if (offset != kNowhere)
      value = to_register(*reinterpret_cast<const T*>(finder.value(sorted.positions[i])));
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
      const C other = shuffle_down(value, distance);
      const uint64_t other_offset = __shfl_down_sync(~0u, offset, distance);
      if (lane + distance < kWarpSize && other_offset == offset)
        value = combined<kMultiplies>(value, other);
    }
    if (exists) partial[i] = value;
  }
}

/// The thread of an element's first position combines the warps' partial results with the element.
template <class T, bool kMultiplies>
__global__ void __launch_bounds__(kBlock)
    combine_warps_kernel(char* base, WritePositions sorted, const Register<T>* partial) {
  using C = Register<T>;
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < sorted.count; i += step) {
    const uint64_t offset = sorted.offsets[i];
    if (offset == kNowhere || (i > 0 && sorted.offsets[i - 1] == offset)) continue;
    C total = partial[i];
    for (int64_t next = (i / kWarpSize + 1) * kWarpSize;
         next < sorted.count && sorted.offsets[next] == offset; next += kWarpSize)
      total = combined<kMultiplies>(total, partial[next]);
    T& element = *reinterpret_cast<T*>(base + offset);
    element = to_element<T>(combined<kMultiplies>(C(to_register(element)), total));
  }
}

/// The thread of an element's last position writes that position's value.
template <class Bits, class Finder>
__global__ void __launch_bounds__(kBlock)
    write_last_kernel(const __grid_constant__ Finder finder, WritePositions sorted) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < sorted.count; i += step) {
    const uint64_t offset = sorted.offsets[i];
    if (offset == kNowhere || (i + 1 < sorted.count && sorted.offsets[i + 1] == offset)) continue;
    *reinterpret_cast<Bits*>(finder.base() + offset) =
        *reinterpret_cast<const Bits*>(finder.value(sorted.positions[i]));
  }
}

/// The largest byte offset within a view.
inline int64_t largest_offset(const View& view) {
  int64_t offset = 0;
  for (int d = 0; d < view.dim; ++d) offset += (view.sizes[d] - 1) * view.strides[d];
  return offset * static_cast<int64_t>(element_size(view.dtype));
}

template <class T>
T* scratch_array(int64_t count, Ctx& ctx) {
  return static_cast<T*>(ctx.scratch(sizeof(T) * static_cast<size_t>(count)));
}

/// Finds all positions and sorts them by offset; offsets are at most `largest`.
template <class Finder>
WritePositions sort_positions(const Finder& finder, int64_t count, int64_t largest, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  const auto allocate = [&] {
    return WritePositions{count, scratch_array<uint64_t>(count, ctx),
                          scratch_array<int64_t>(count, ctx)};
  };
  const WritePositions found = allocate(), sorted = allocate();
  // Only kNowhere has higher bits set, and its lower bits sort it last as well.
  const int bits = std::bit_width(static_cast<uint64_t>(largest) + 1);
  size_t bytes = 0;
  const auto sort = [&](void* temporary) {
    HEARTH_CUDA(cub::DeviceRadixSort::SortPairs(temporary, bytes, found.offsets, sorted.offsets,
                                                found.positions, sorted.positions, count, 0, bits,
                                                stream.stream));
  };
  sort(nullptr);  // only sets `bytes`
  void* const temporary = ctx.scratch(bytes);
  launch(find_offsets_kernel<Finder>, grid_for(count, stream), stream, finder, found);
  sort(temporary);
  return sorted;
}

template <class T, bool kMultiplies, class Finder>
void combine_sorted(const Finder& finder, const WritePositions& sorted, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  const unsigned grid = grid_for(sorted.count, stream);
  auto* const partial = scratch_array<Register<T>>(sorted.count, ctx);
  launch(combine_in_warps_kernel<T, kMultiplies, Finder>, grid, stream, finder, sorted, partial);
  launch(combine_warps_kernel<T, kMultiplies>, grid, stream, finder.base(), sorted, partial);
}

/// element += value, or element *= value, in sorted order. For floating and complex dtypes: results
/// of other dtypes do not depend on the order.
template <class Finder>
void combine_in_order(const Finder& finder, int64_t count, int64_t largest, ScalarType dtype,
                      bool multiplies, Ctx& ctx) {
  const WritePositions sorted = sort_positions(finder, count, largest, ctx);
  const auto combine = [&](auto element) {
    using T = decltype(element);
    if constexpr (!kIsComplex<T>)
      if (multiplies) return combine_sorted<T, true>(finder, sorted, ctx);
    combine_sorted<T, false>(finder, sorted, ctx);
  };
  switch (dtype) {
    case kHalf: return combine(Half{});
    case kBFloat16: return combine(BFloat16{});
    case kFloat: return combine(float{});
    case kDouble: return combine(double{});
    case kComplexFloat: return combine(complex<float>{});
    default: return combine(complex<double>{});
  }
}

/// element = value; the last of several values wins.
template <class Finder>
void replace_in_order(const Finder& finder, int64_t count, int64_t largest, ScalarType dtype,
                      Ctx& ctx) {
  const WritePositions sorted = sort_positions(finder, count, largest, ctx);
  const NativeStream& stream = stream_of(ctx);
  with_bits(element_size(dtype), [&](auto bits) {
    launch(write_last_kernel<decltype(bits), Finder>, grid_for(count, stream), stream, finder,
           sorted);
  });
}

/// Whether values must be sorted before they are combined: floating-point results depend on the
/// order, and half types would be rounded after each value.
inline bool combines_in_order(ScalarType dtype, bool deterministic) {
  return is_reduced_float(dtype) ||
         (deterministic && (is_floating_point(dtype) || is_complex(dtype)));
}

}  // namespace hearth::cuda
