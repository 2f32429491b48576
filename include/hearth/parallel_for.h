#pragma once

#include <cstdint>

#include "hearth/threads.h"

namespace hearth {

namespace detail {

using RangeBody = void (*)(const void* functor, int64_t begin, int64_t end);

/// The type-erased part of parallel_for, for ranges larger than the grain.
HEARTH_API void run_parallel(int64_t begin, int64_t end, int64_t grain, RangeBody body,
                             const void* functor);

}  // namespace detail

/// Calls f(b, e) on chunks that cover [begin, end), in parallel if the range is larger than
/// `grain`. The chunks depend on the range and the grain, not on the number of threads. Nested
/// loops run serially. The first exception is rethrown after the loop.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  const int64_t count = end - begin;
  if (count <= 0) return;
  if (count <= grain || count == 1) {
    f(begin, end);
    return;
  }
  detail::run_parallel(
      begin, end, grain,
      [](const void* functor, int64_t b, int64_t e) { (*static_cast<const F*>(functor))(b, e); },
      &f);
}

}  // namespace hearth
