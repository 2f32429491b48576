#pragma once

#include <algorithm>
#include <cstdint>

#include "core/thread_pool.h"
#include "core/threads.h"
#include "hearth/parallel_for.h"

namespace hearth {

/// Calls f(i) for each block 0 <= i < count, in parallel.
template <class F>
void parallel_blocks(int64_t count, const F& f) {
  parallel_for(0, count, 1, [&f](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

/// The number of slots (threads) for parallel_tasks(count, ...).
inline int task_slots(int64_t count) {
  return static_cast<int>(std::clamp<int64_t>(count, 1, get_num_threads()));
}

/// Calls f(i, slot) for each task 0 <= i < count, in parallel. Tasks that run at the same time have
/// different slots below `slots`, so that each slot can have its own scratch memory.
template <class F>
void parallel_tasks(int64_t count, int slots, const F& f) {
  if (count == 1 || slots == 1) {
    for (int64_t i = 0; i < count; ++i) f(i, 0);
    return;
  }
  ParallelLoop loop(
      count, slots,
      [](const void* functor, int64_t i, int slot) { (*static_cast<const F*>(functor))(i, slot); },
      &f);
  thread_pool::run(loop);
  loop.rethrow();
}

/// Calls f(begin, end) in parallel on one range of [0, count) per thread, or on fewer ranges of
/// about `grain`, for loops with a high cost per range. The ranges depend on the number of threads;
/// results must not depend on them.
template <class F>
void parallel_ranges(int64_t count, int64_t grain, const F& f) {
  const int64_t ranges = task_slots(grain > 0 ? (count - 1) / grain + 1 : count);
  parallel_tasks(ranges, static_cast<int>(ranges),
                 [&](int64_t i, int) { f(count * i / ranges, count * (i + 1) / ranges); });
}

}  // namespace hearth
