#include "core/parallel_for.h"

namespace hearth::detail {

namespace {

// Enough chunks to keep the threads of large machines busy to the end, with little overhead.
constexpr int64_t kMaxChunks = 128;

// In long ranges, the size of a chunk is a multiple of this, to keep SIMD vectors and cache lines
// whole.
constexpr int64_t kAlignment = 64;

/// The chunks of a loop, which depend only on its range and its grain.
struct Chunks {
  Chunks(int64_t range_begin, int64_t range_end, int64_t grain)
      : begin(range_begin), end(range_end) {
    const int64_t length = end - begin;
    const int64_t by_grain = grain > 1 ? (length - 1) / grain + 1 : length;
    // A multiple of 4 divides evenly among few threads.
    const int64_t wanted = by_grain <= 2 ? 2 : (by_grain + 3) / 4 * 4;
    const int64_t chunks = std::min({wanted, length, kMaxChunks});
    size = (length - 1) / chunks + 1;
    if (size > kAlignment * 4) size = (size + kAlignment - 1) / kAlignment * kAlignment;
    count = (length - 1) / size + 1;
  }
  int64_t chunk_begin(int64_t i) const { return begin + i * size; }
  int64_t chunk_end(int64_t i) const { return std::min(end, begin + (i + 1) * size); }

  int64_t begin, end, size, count;
};

}  // namespace

void run_parallel(int64_t begin, int64_t end, int64_t grain, RangeBody body, const void* functor) {
  const Chunks chunks(begin, end, grain);
  parallel_tasks(chunks.count, task_slots(chunks.count), [&](int64_t i, int) {
    body(functor, chunks.chunk_begin(i), chunks.chunk_end(i));
  });
}

}  // namespace hearth::detail
