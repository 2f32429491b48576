#pragma once

// The grid of a reduction's tasks, which the threads divide, and the reading of a task's elements:
// in place if they are contiguous and need no conversion, else gathered in a buffer of 16 KiB,
// which stays in the L1 cache. Gathering is bound by a load and a store for each element.

#include <cstdint>

#include "core/parallel_for.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/reduce_kernels.h"
#include "kernels/cpu/reduce_plan.h"

namespace hearth::cpu {

/// Outputs [begin, begin + width), in the row-major order of the kept dimensions.
struct OutputTile {
  int64_t begin;
  int64_t width;
};

/// Bytes of a block: the elements of a row that are reduced at once.
inline constexpr int64_t kBlockBytes = 16384;

/// Splits a reduction into tasks, and reads a task's elements. The tasks form a grid of tiles of
/// outputs by chunks of reduced positions, which does not depend on the number of threads.
class ReduceGrid {
 public:
  /// Elements are converted to `compute`; dimensions of size 1 in `out` are reduced.
  ReduceGrid(const View& in, const View& out, ScalarType compute);

  const ReduceDims& kept() const { return plan_.kept; }
  int64_t count() const { return plan_.reduced.numel; }
  /// The maximum number of reduced positions of one call of along_row or across_columns.
  int64_t leaf() const { return leaf_; }
  /// Whether the elements of each output are read along a row; else by columns, many outputs side
  /// by side.
  bool by_rows() const { return by_rows_; }
  int64_t chunks() const { return chunks_; }
  int64_t tiles() const { return tiles_; }
  int64_t tile_width() const { return tile_width_; }
  OutputTile tile(int64_t index) const;

  /// Calls f(task, tile, begin, end) in parallel for every tile and chunk. The chunk is positions
  /// [begin, end); `task = tile * chunks() + chunk`.
  template <class F>
  void for_tasks(const F& f) const;
  /// By rows: calls f(j, row) for each output j of a tile.
  template <class F>
  void for_rows(OutputTile tile, const F& f) const;
  /// By rows: calls f(data, n) for contiguous elements that make up positions [begin, end) of a
  /// row.
  template <class F>
  void along_row(const char* row, int64_t begin, int64_t end, const F& f) const;
  /// By columns: calls f(data, stride, rows) for rows of tile.width contiguous elements, `stride`
  /// elements apart, that make up positions [begin, end).
  template <class F>
  void across_columns(OutputTile tile, int64_t begin, int64_t end, const F& f) const;

 private:
  static constexpr int64_t kBufferBytes = kBlockBytes;
  static constexpr int64_t kDirectRun = 256;  // shorter runs are gathered in a buffer
  static constexpr int64_t kGrain = 1 << 15;  // up to this many elements run on one thread

  void choose_tiles();
  void choose_chunks();
  /// The address of a tile's first column if the columns lie side by side in memory and need no
  /// conversion, else null.
  const char* plain_columns(OutputTile tile) const;
  void gather_row(OutputTile tile, const char* row, char* to) const;

  const ReducePlan plan_;
  const int64_t in_size_, size_;  // bytes of an element before and after conversion
  const char* const in_;
  const bool direct_;  // elements need no conversion
  const StridedConvert load_;
  bool by_rows_;
  bool split_runs_;  // no tile crosses an end of the innermost kept dimension
  int64_t leaf_, tile_width_, tiles_, chunks_, chunk_size_;
};

/// Writes the results of a tile, of type `compute`, to `out`; `kept` has out's strides.
void store_tile(const ReduceDims& kept, OutputTile tile, const void* results, ScalarType compute,
                const View& out);

template <class F>
void ReduceGrid::for_tasks(const F& f) const {
  const int64_t work = chunk_size_ * tile_width_;
  parallel_for(0, tiles_ * chunks_, work < kGrain ? kGrain / (work + 1) : 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task) {
                   const int64_t first = task % chunks_ * chunk_size_;
                   const int64_t limit = first + chunk_size_;
                   f(task, tile(task / chunks_), first, limit < count() ? limit : count());
                 }
               });
}

template <class F>
void ReduceGrid::for_rows(OutputTile tile, const F& f) const {
  int64_t j = 0;
  const int64_t step = plan_.kept.inner_in() * in_size_;
  plan_.kept.for_runs(tile.begin, tile.begin + tile.width, [&](int64_t offset, int64_t, int64_t n) {
    const char* row = in_ + offset * in_size_;
    for (int64_t i = 0; i < n; ++i, row += step) f(j++, row);
  });
}

template <class F>
void ReduceGrid::along_row(const char* row, int64_t begin, int64_t end, const F& f) const {
  alignas(64) char buffer[kBufferBytes];
  int64_t filled = 0;
  const int64_t stride = plan_.reduced.inner_in();
  plan_.reduced.for_runs(begin, end, [&](int64_t offset, int64_t, int64_t n) {
    const char* from = row + offset * in_size_;
    if (direct_ && stride == 1 && (n >= kDirectRun || n == end - begin)) {
      f(from, n);
    } else {
      load_(from, stride, buffer + filled * size_, 1, n);
      filled += n;
    }
  });
  if (filled > 0) f(buffer, filled);
}

template <class F>
void ReduceGrid::across_columns(OutputTile tile, int64_t begin, int64_t end, const F& f) const {
  const int64_t stride = plan_.reduced.inner_in();
  if (const char* column = plain_columns(tile)) {
    plan_.reduced.for_runs(begin, end, [&](int64_t offset, int64_t, int64_t n) {
      f(column + offset * size_, stride, n);
    });
    return;
  }
  alignas(64) char buffer[kBufferBytes];
  const int64_t row_bytes = tile.width * size_;
  const int64_t max_rows = kBufferBytes / row_bytes;
  int64_t rows = 0;
  plan_.reduced.for_runs(begin, end, [&](int64_t offset, int64_t, int64_t n) {
    for (int64_t r = 0; r < n; ++r) {
      gather_row(tile, in_ + (offset + r * stride) * in_size_, buffer + rows * row_bytes);
      if (++rows < max_rows) continue;
      f(buffer, tile.width, rows);
      rows = 0;
    }
  });
  if (rows > 0) f(buffer, tile.width, rows);
}

}  // namespace hearth::cpu
