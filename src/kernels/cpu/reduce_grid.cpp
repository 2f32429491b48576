// Cuts a reduction into tasks in a way that does not depend on the number of threads: tiles of up
// to 4 KiB of outputs by up to 128 chunks of reduced positions; a task has about 131,072 elements
// or more if there are enough. Elements are read along rows if a reduced dimension is the
// innermost (short rows only for few outputs), else by columns, many outputs side by side.
#include "kernels/cpu/reduce_grid.h"

#include <algorithm>

namespace hearth::cpu {

namespace {

constexpr int64_t kTaskElements = 1 << 17;  // that a task should have
constexpr int64_t kTasks = 128;             // enough for the cores of any processor
constexpr int64_t kShortReducedRow = 16;    // shorter rows of many outputs are reduced by columns
constexpr int64_t kNarrowGrid = 64;         // columns that are worth a tile of their own

/// count / size, rounded up. Avoids the division if possible, which is slow for small tensors.
int64_t ceil_div(int64_t count, int64_t size) {
  return count <= size ? count > 0 : (count + size - 1) / size;
}
int64_t at_least_1(int64_t x) { return std::max<int64_t>(x, 1); }

}  // namespace

ReduceGrid::ReduceGrid(const View& in, const View& out, ScalarType compute)
    : plan_(in, out),
      in_size_(int64_t(element_size(in.dtype))),
      size_(int64_t(element_size(compute))),
      in_(in.as<const char>()),
      direct_(in.dtype == compute),
      load_(in.dtype, compute) {
  choose_tiles();
  choose_chunks();
}

void ReduceGrid::choose_tiles() {
  const ReduceDims& kept = plan_.kept;
  const ReduceDims& reduced = plan_.reduced;
  const bool rows_inside =
      kept.inner_in() == 0 || (reduced.inner_in() != 0 && reduced.inner_in() < kept.inner_in());
  by_rows_ =
      kept.dim == 0 ||
      (rows_inside && (reduced.inner_size() >= kShortReducedRow || kept.numel < kShortReducedRow));
  // Whether the rows of an innermost kept dimension follow each other without gaps.
  const bool dense = reduced.inner_in() == kept.inner_size() && reduced.inner_size() >= kNarrowGrid;
  split_runs_ = !by_rows_ && kept.inner_in() == 1 && (kept.inner_size() >= kNarrowGrid || dense);
  const int64_t run = at_least_1(split_runs_ ? kept.inner_size() : kept.numel);
  tile_width_ = std::min(run, kReduceTileBytes / size_);
  // Short gathered columns should fit into the buffer as a whole.
  if (!direct_ || kept.inner_in() != 1)
    tile_width_ =
        std::min(tile_width_, std::max(kNarrowGrid, kBufferBytes / size_ / at_least_1(count())));
  if (by_rows_)
    tile_width_ = std::clamp<int64_t>(kTaskElements / at_least_1(count()), 1, tile_width_);
  tiles_ = ceil_div(run, tile_width_) * (kept.numel / run);
  leaf_ = by_rows_ ? kBufferBytes / size_
                   : std::max<int64_t>(kNarrowGrid, 4 * kBufferBytes / (tile_width_ * size_));
}

void ReduceGrid::choose_chunks() {
  if (count() * tile_width_ <= kTaskElements) {
    chunks_ = 1;
    chunk_size_ = at_least_1(count());
    return;
  }
  const int64_t by_work = ceil_div(count() * tile_width_, kTaskElements);
  const int64_t wanted_chunks =
      std::clamp<int64_t>(by_work, 1, at_least_1(kTasks / at_least_1(tiles_)));
  chunk_size_ = at_least_1(ceil_div(ceil_div(count(), wanted_chunks), leaf_) * leaf_);
  chunks_ = at_least_1(ceil_div(count(), chunk_size_));
}

OutputTile ReduceGrid::tile(int64_t index) const {
  const int64_t run = split_runs_ ? plan_.kept.inner_size() : plan_.kept.numel;
  const int64_t per_run = ceil_div(run, tile_width_);
  const int64_t within = index % per_run * tile_width_;
  return {index / per_run * run + within, std::min(tile_width_, run - within)};
}

const char* ReduceGrid::plain_columns(OutputTile tile) const {
  const ReduceDims& kept = plan_.kept;
  const bool one_run = tile.begin % kept.inner_size() + tile.width <= kept.inner_size();
  if (!direct_ || kept.inner_in() != 1 || !one_run) return nullptr;
  const char* column = nullptr;
  kept.for_runs(tile.begin, tile.begin + tile.width,
                [&](int64_t offset, int64_t, int64_t) { column = in_ + offset * in_size_; });
  return column;
}

void ReduceGrid::gather_row(OutputTile tile, const char* row, char* to) const {
  plan_.kept.for_runs(tile.begin, tile.begin + tile.width, [&](int64_t offset, int64_t, int64_t n) {
    load_(row + offset * in_size_, plan_.kept.inner_in(), to, 1, n);
    to += n * size_;
  });
}

void store_tile(const ReduceDims& kept, OutputTile tile, const void* results, ScalarType compute,
                const View& out) {
  const StridedConvert convert(compute, out.dtype);
  const int64_t size = int64_t(element_size(compute)), out_size = int64_t(element_size(out.dtype));
  const char* from = static_cast<const char*>(results);
  kept.for_runs(tile.begin, tile.begin + tile.width, [&](int64_t, int64_t offset, int64_t n) {
    convert(from, 1, out.as<char>() + offset * out_size, kept.inner_out(), n);
    from += n * size;
  });
}

}  // namespace hearth::cpu
