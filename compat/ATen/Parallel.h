#pragma once

#include "ATen/Context.h"
#include "hearth/parallel_for.h"

#include <memory>

namespace at {

inline int64_t divup(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Splits [begin, end) into chunks and combines f(chunk begin, chunk end, identity) in order.
template <class Scalar, class F, class Combine>
Scalar parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, Scalar identity, const F& f,
                       const Combine& combine) {
  if (begin >= end) return identity;
  constexpr int64_t kMostChunks = 128;
  const int64_t least = divup(end - begin, kMostChunks);
  const int64_t grain = grain_size <= 0 ? end - begin : grain_size < least ? least : grain_size;
  const int64_t chunks = divup(end - begin, grain);
  // Not a std::vector: vector<bool> packs elements into bytes, which threads cannot write safely.
  const std::unique_ptr<Scalar[]> results(new Scalar[static_cast<size_t>(chunks)]);
  hearth::parallel_for(0, chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t from = begin + i * grain;
      results[i] = f(from, end - from < grain ? end : from + grain, identity);
    }
  });
  Scalar total = results[0];
  for (int64_t i = 1; i < chunks; ++i) total = combine(total, results[i]);
  return total;
}

}  // namespace at
