#pragma once

#include <algorithm>

#include "core/mt19937.h"
#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"
#include "kernels/draws.h"
#include "seam/ctx.h"

namespace hearth::cpu {

/// Elements of a chunk, which is drawn at once; its bits fit into the L1 cache.
inline constexpr int64_t kDrawChunk = 1024;
/// Up to this many elements run on one thread.
inline constexpr int64_t kDrawGrain = 16384;

/// Returns the loop over views of one shape in the memory order of the first one.
template <int N>
StridedLoop<N> loop_in_memory_order(std::initializer_list<const View*> views) {
  const View& first = **views.begin();
  int order[kMaxDims];
  int dims = 0;
  for (int d = 0; d < first.dim; ++d)
    if (first.sizes[d] != 1) order[dims++] = d;
  std::stable_sort(order, order + dims,
                   [&first](int a, int b) { return first.strides[a] > first.strides[b]; });
  StridedLoop<N> loop;
  loop.dim = dims;
  for (int d = 0; d < dims; ++d) loop.sizes[d] = first.sizes[order[d]];
  for (const View* view : views) {
    int64_t strides[kMaxDims];
    for (int d = 0; d < dims; ++d) strides[d] = view->strides[order[d]];
    loop.add(strides);
  }
  loop.merge();
  return loop;
}

/// Fills `to` with the bits of elements [position, position + count) of a Philox stream.
template <class Bits>
void philox_fill(const RandomSource& source, int64_t position, Bits* to, int64_t count) {
  constexpr int lanes = kPhiloxLanes<Bits>;
  int lane = static_cast<int>(position % lanes);
  for (uint64_t subsequence = static_cast<uint64_t>(position) / lanes; count > 0; ++subsequence) {
    const PhiloxBlock block = philox(source.seed, subsequence, source.offset);
    for (; lane < lanes && count > 0; ++lane, --count) *to++ = philox_lane<Bits>(block, lane);
    lane = 0;
  }
}

/// Calls f(bits, offsets, count) for chunks that cover all elements of `loop`, with the random bits
/// of each element: one after the other from the Mersenne Twister, in parallel from Philox.
template <class Bits, int N, class F>
void for_each_draw(const StridedLoop<N>& loop, const RandomSource& source, const F& f) {
  const auto draw_range = [&](int64_t begin, int64_t end) {
    alignas(64) Bits bits[kDrawChunk];
    int64_t position = begin;
    loop.walk(begin, end, [&](const int64_t* run_offsets, int64_t count) {
      int64_t offsets[N];
      std::copy_n(run_offsets, N, offsets);
      while (count > 0) {
        const int64_t chunk = std::min(count, kDrawChunk);
        if constexpr (sizeof(Bits) <= 8) {
          if (source.mt)
            source.mt->fill(bits, chunk);
          else
            philox_fill(source, position, bits, chunk);
        } else {
          philox_fill(source, position, bits, chunk);
        }
        f(static_cast<const Bits*>(bits), static_cast<const int64_t*>(offsets), chunk);
        for (int o = 0; o < N; ++o) offsets[o] += chunk * loop.inner_stride(o);
        position += chunk;
        count -= chunk;
      }
    });
  };
  if (source.mt)
    draw_range(0, loop.numel());
  else
    parallel_for(0, loop.numel(), kDrawGrain, draw_range);
}

/// Returns the loop over `views` in the order in which the source draws elements.
template <int N>
StridedLoop<N> draw_loop(const RandomSource& source, std::initializer_list<const View*> views) {
  return source.mt ? loop_in_memory_order<N>(views) : StridedLoop<N>(views);
}

}  // namespace hearth::cpu
