#pragma once

#include <cstdint>

#include "hearth/threads.h"

namespace hearth {

namespace detail {

using RangeBody = void (*)(const void* f, int64_t begin, int64_t end);

/// The body of parallel_for with its function's type erased; end - begin is above the grain.
HEARTH_API void run_parallel(int64_t begin, int64_t end, int64_t grain, RangeBody body,
                             const void* f);

}  // namespace detail

/// Calls f(b, e) on chunks that cover [begin, end), in parallel if there is more than `grain` to
/// do. The chunks depend on the range and the grain, never on the number of threads. Inside another
/// parallel loop they run one after the other. The first exception is rethrown after the join.
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
      [](const void* body, int64_t b, int64_t e) { (*static_cast<const F*>(body))(b, e); }, &f);
}

}  // namespace hearth
