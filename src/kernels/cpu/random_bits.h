#pragma once

// Draws the random bits of all elements in chunks of up to 1248, which stay in the L1 cache. Each
// thread's share of a Mersenne twister starts from a state that is computed first, by skipping on
// one thread; bits of Philox depend on the position alone. Bound by the generators' integer
// arithmetic.

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/mt19937.h"
#include "core/parallel_for.h"
#include "kernels/cpu/random_loops.h"
#include "kernels/cpu/strided.h"
#include "kernels/draws.h"
#include "seam/ctx.h"

namespace hearth::cpu {

/// Elements of a chunk, which is drawn at once; its bits fit into the L1 cache and are whole states
/// of the Mersenne twister, which are written without a copy.
inline constexpr int64_t kDrawChunk = 2 * Mt19937::kWords;
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

template <class Pair>
auto* words_of(Pair* pairs) {
  static_assert(sizeof(WordPair) == 2 * sizeof(uint32_t));
  using Word = std::conditional_t<std::is_const_v<Pair>, const uint32_t, uint32_t>;
  return reinterpret_cast<Word*>(pairs);
}

/// Fills `to` with the next bits of a Mersenne twister.
template <class Bits>
void mt_fill(Mt19937& mt, Bits* to, int64_t count) {
  mt.fill(to, count, random_loops.refill);
}
inline void mt_fill(Mt19937& mt, WordPair* to, int64_t count) {
  mt.fill(words_of(to), 2 * count, random_loops.refill);
}

/// The length of a first chunk, after which the others begin with a new state of the twister.
template <class Bits>
int64_t first_chunk(const Mt19937* mt) {
  constexpr int64_t kWords = std::max<int64_t>(1, sizeof(Bits) / sizeof(uint32_t));
  return mt && mt->unread() >= kWords ? mt->unread() / kWords : kDrawChunk;
}

/// Fills `to` with the bits of elements [position, position + count) of a Philox stream.
template <class Bits>
void philox_fill(const RandomSource& source, int64_t position, Bits* to, int64_t count) {
  constexpr int lanes = kPhiloxLanes<Bits>;
  const PhiloxKey key = philox_key(source);
  int lane = static_cast<int>(position % lanes);
  for (uint64_t subsequence = static_cast<uint64_t>(position) / lanes; count > 0; ++subsequence) {
    const PhiloxBlock block = philox(key.seed, subsequence, key.offset);
    for (; lane < lanes && count > 0; ++lane, --count) *to++ = philox_lane<Bits>(block, lane);
    lane = 0;
  }
}

/// Calls draw(begin, end, mt) in parallel for ranges that cover [0, count). Each call gets the
/// generator's state after the elements before `begin`; `mt` ends in the state after all elements.
template <class Bits, class F>
void for_each_share(int64_t count, Mt19937& mt, const F& draw) {
  const int shares = task_slots(count / kDrawGrain);
  if (shares <= 1) return draw(0, count, mt);
  const int64_t length = (count - 1) / shares + 1;
  std::vector<Mt19937> states(static_cast<size_t>(shares), mt);
  for (size_t i = 1; i < states.size(); ++i) {
    states[i] = states[i - 1];
    states[i].discard(length * static_cast<int64_t>(sizeof(Bits) / sizeof(uint32_t)));
  }
  parallel_tasks(shares, shares, [&](int64_t i, int) {
    draw(i * length, std::min(count, (i + 1) * length), states[static_cast<size_t>(i)]);
  });
  mt = states.back();
}

/// Calls f(bits, offsets, count) for chunks that cover all elements of `loop`, with the random bits
/// of each element, in parallel. The bits do not depend on the number of threads. WordPairs come
/// only from a Mersenne twister.
template <class Bits, int N, class F>
void for_each_draw(const StridedLoop<N>& loop, const RandomSource& source, const F& f) {
  const auto draw_range = [&](int64_t begin, int64_t end, Mt19937* mt) {
    alignas(64) Bits bits[kDrawChunk];
    int64_t position = begin, limit = first_chunk<Bits>(mt);
    loop.walk(begin, end, [&](const int64_t* run_offsets, int64_t count) {
      int64_t offsets[N];
      std::copy_n(run_offsets, N, offsets);
      while (count > 0) {
        const int64_t chunk = std::min(count, limit);
        limit = kDrawChunk;
        if constexpr (std::is_same_v<Bits, WordPair>) {
          mt_fill(*mt, bits, chunk);
        } else if constexpr (sizeof(Bits) <= 8) {
          if (mt)
            mt_fill(*mt, bits, chunk);
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
    for_each_share<Bits>(loop.numel(), *source.mt, [&](int64_t begin, int64_t end, Mt19937& mt) {
      draw_range(begin, end, &mt);
    });
  else
    parallel_for(0, loop.numel(), kDrawGrain,
                 [&](int64_t begin, int64_t end) { draw_range(begin, end, nullptr); });
}

/// Returns the loop over `views` in the order in which the source draws elements.
template <int N>
StridedLoop<N> draw_loop(const RandomSource& source, std::initializer_list<const View*> views) {
  return source.mt ? loop_in_memory_order<N>(views) : StridedLoop<N>(views);
}

}  // namespace hearth::cpu
