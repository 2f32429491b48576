#pragma once

// Runs LAPACK or BLAS on each matrix of a batch. The threads divide the batch if it has enough
// work, 65,536 multiplications for each task; each matrix is computed on one thread.

#include <algorithm>
#include <type_traits>

#include "core/parallel_for.h"
#include "core/process_end.h"
#include "core/threads.h"
#include "hearth/error.h"
#include "kernels/linalg_sizes.h"
#include "seam/ctx.h"

namespace hearth::cpu {

/// The scratch memory of one task slot of for_matrices.
struct Workspace {
  char* memory;
  template <class T>
  T* as(size_t offset = 0) const {
    return reinterpret_cast<T*>(memory + offset);
  }
};

inline size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Calls f(i, workspace) for each matrix 0 <= i < count, with `bytes` bytes of workspace, on
/// several threads if `work`, in multiplications per matrix, is worth it. LAPACK computes each
/// matrix on one thread.
template <class F>
void for_matrices(Ctx& ctx, int64_t count, double work, size_t bytes, const F& f) {
  constexpr double kGrain = 1 << 16;
  const double grains = std::min(double(count), double(count) * work / kGrain);
  const int64_t ranges = task_slots(int64_t(grains));
  const size_t stride = aligned(bytes);
  char* const memory = stride ? static_cast<char*>(ctx.scratch(size_t(ranges) * stride)) : nullptr;
  parallel_tasks(ranges, int(ranges), [&](int64_t range, int slot) {
    const LibraryCall call;
    const LibraryThreadsGuard guard;
    for (int64_t i = count * range / ranges; i < count * (range + 1) / ranges; ++i)
      f(i, Workspace{memory + size_t(slot) * stride});
  });
}

/// Calls f, which asks LAPACK for the size of a workspace.
template <class F>
void ask_size(const F& f) {
  const LibraryCall call;
  f();
}

/// Returns the number of elements in LAPACK's answer to a workspace query; a float may have been
/// rounded down.
template <class T>
int work_size(T answer) {
  const double wanted = double(answer) * (std::is_same_v<T, float> ? 1 + 1e-6 : 1) + 1;
  HEARTH_CHECK(wanted < 2147483647.0, "the matrix is too large for LAPACK's 32-bit sizes");
  return int(wanted);
}

}  // namespace hearth::cpu
