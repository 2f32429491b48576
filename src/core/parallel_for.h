#pragma once

#include <cstdint>

#include "core/threads.h"
#include "hearth/parallel_for.h"

namespace hearth {

namespace detail {

/// The number of threads where nobody has set one.
int default_num_threads();

}  // namespace detail

/// Calls f(i) for each block 0 <= i < count, in parallel. For work whose limits must not depend on
/// the number of threads, such as partial sums.
template <class F>
void parallel_blocks(int64_t count, const F& f) {
  parallel_for(0, count, 1, [&f](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace hearth
