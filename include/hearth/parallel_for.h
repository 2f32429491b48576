#pragma once

#include <cstdint>

#include "hearth/threads.h"

namespace hearth {

namespace detail {

using RangeBody = void (*)(const void* f, int64_t begin, int64_t end);

/// The body of parallel_for with its function's type erased; `chunks` is at least 2.
HEARTH_API void run_parallel(int64_t begin, int64_t end, int64_t chunks, RangeBody body,
                             const void* f);

}  // namespace detail

/// Calls f(b, e) on chunks that cover [begin, end), in parallel if there is more than `grain` to
/// do. Where the chunks' limits lie depends on the number of threads, so results must not depend on
/// them. Inside another parallel loop it runs serially. The first exception is rethrown after the
/// join.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  const int64_t count = end - begin;
  if (count <= 0) return;
  const int64_t threads = count > grain ? get_num_threads() : 1;
  if (threads == 1) {
    f(begin, end);
    return;
  }
  const int64_t by_grain = grain > 1 ? (count - 1) / grain + 1 : count;
  detail::run_parallel(
      begin, end, by_grain < threads ? by_grain : threads,
      [](const void* body, int64_t b, int64_t e) { (*static_cast<const F*>(body))(b, e); }, &f);
}

}  // namespace hearth
