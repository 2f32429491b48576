#include "kernels/reduce.h"

#include <algorithm>
#include <cstring>

#include "core/parallel_for.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/reduce_kernels.h"
#include "kernels/cpu/reduce_plan.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kBufferBytes = 16384;
constexpr int64_t kTaskElements = 1 << 17;  // a task gets no more by cutting the reduced dimensions
constexpr int64_t kTasks = 128;             // enough for every processor
constexpr int64_t kGrain = 1 << 15;         // elements that are worth another thread
constexpr int64_t kShortRow = 16;           // below, outputs side by side are faster than along a row
constexpr int64_t kDirectRun = 256;         // below, runs are gathered first
constexpr int64_t kNarrow = 64;             // below, several rows are taken as one

/// Outputs begin … begin + width - 1, in the row-major order of the kept dimensions.
struct Tile {
  int64_t begin;
  int64_t width;
};

/// One reduction: a grid of tiles of outputs times chunks of the reduced dimensions, which depends on the
/// shapes alone. A chunk is halved until a leaf is left; states are merged on the way back, so that
/// rounding errors grow with the logarithm of the size.
class Reduction {
 public:
  Reduction(const ReduceParams& params, const ReduceLoops& loops);
  void run(Ctx& ctx) const;

 private:
  void choose_tiles();
  void choose_chunks();
  int64_t tasks() const { return tiles_ * chunks_; }
  Tile tile(int64_t index) const;

  void reduce(Tile tile, int64_t begin, int64_t end, TileStates& states) const;
  void along_rows(Tile tile, int64_t begin, int64_t end, TileStates& states) const;
  void along_row(const char* row, int64_t begin, int64_t end, int64_t j, TileStates& states) const;
  void across_columns(Tile tile, int64_t begin, int64_t end, TileStates& states) const;
  void gathered_columns(Tile tile, int64_t begin, int64_t end, TileStates& states) const;
  void combine_rows(const char* data, int64_t stride, int64_t rows, int64_t width,
                    TileStates& states) const;
  void finish(Tile tile, const TileStates& states) const;

  int64_t slot_bytes() const { return tile_width_ * parts_ * size_; }
  void save(Tile tile, const TileStates& states, char* slot) const;
  void merge_slots(Tile tile, const char* slots, int64_t count, TileStates& states) const;

  const ReduceParams& params_;
  const ReduceLoops& loops_;
  const ReducePlan plan_;
  const int64_t in_size_, size_, out_size_;  // bytes of an element
  const int64_t parts_;
  const char* const in_;
  const bool direct_;  // elements need no conversion
  const ConvertFn load_, store_;
  bool by_rows_;       // else by columns: outputs side by side in memory
  bool split_runs_;    // tiles do not cross the innermost kept dimension's ends
  int64_t leaf_, tile_width_, tiles_, chunks_, chunk_;
};

Reduction::Reduction(const ReduceParams& params, const ReduceLoops& loops)
    : params_(params),
      loops_(loops),
      plan_(params.in, params.out),
      in_size_(int64_t(element_size(params.in.dtype))),
      size_(int64_t(element_size(params.compute))),
      out_size_(int64_t(element_size(params.out.dtype))),
      parts_(loops.parts),
      in_(params.in.as<const char>()),
      direct_(params.in.dtype == params.compute),
      load_(convert_to_compute(params.in.dtype, params.compute)),
      store_(convert_from_compute(params.compute, params.out.dtype)) {
  choose_tiles();
  choose_chunks();
}

void Reduction::choose_tiles() {
  const ReduceDims& kept = plan_.kept;
  const ReduceDims& reduced = plan_.reduced;
  const int64_t most = kTileBytes / size_;
  const bool rows_inside = kept.inner_in() == 0 || (reduced.inner_in() != 0 && reduced.inner_in() < kept.inner_in());
  by_rows_ = kept.dim == 0 || (rows_inside && (reduced.inner_size() >= kShortRow || kept.numel < kShortRow));
  split_runs_ = !by_rows_ && kept.inner_in() == 1 && kept.inner_size() >= kNarrow;
  if (by_rows_) {
    tile_width_ = std::clamp<int64_t>(kTaskElements / std::max<int64_t>(reduced.numel, 1), 1, most);
    leaf_ = kBufferBytes / size_;
  } else {
    tile_width_ = std::min(most, split_runs_ ? kept.inner_size() : kept.numel);
    leaf_ = std::max<int64_t>(kNarrow, 4 * kBufferBytes / (std::max<int64_t>(tile_width_, 1) * size_));
  }
}

void Reduction::choose_chunks() {
  const auto pieces = [](int64_t count, int64_t size) { return (count + size - 1) / size; };
  const int64_t run = split_runs_ ? plan_.kept.inner_size() : plan_.kept.numel;
  tile_width_ = std::max<int64_t>(std::min(tile_width_, run), 1);
  tiles_ = pieces(run, tile_width_) * (split_runs_ ? plan_.kept.numel / run : 1);
  const int64_t count = plan_.reduced.numel;
  chunks_ = std::clamp<int64_t>(pieces(count * tile_width_, kTaskElements), 1,
                                std::max<int64_t>(kTasks / std::max<int64_t>(tiles_, 1), 1));
  chunk_ = pieces(pieces(count, chunks_), leaf_) * leaf_;
  chunks_ = std::max<int64_t>(pieces(count, std::max<int64_t>(chunk_, 1)), 1);
}

Tile Reduction::tile(int64_t index) const {
  const int64_t run = split_runs_ ? plan_.kept.inner_size() : plan_.kept.numel;
  const int64_t per_run = (run + tile_width_ - 1) / tile_width_;
  const int64_t within = index % per_run * tile_width_;
  return {index / per_run * run + within, std::min(tile_width_, run - within)};
}

void Reduction::run(Ctx& ctx) const {
  if (plan_.kept.numel == 0) return;
  const int64_t grain = std::max<int64_t>(kGrain / std::max<int64_t>(chunk_ * tile_width_, 1), 1);
  if (chunks_ == 1) {
    parallel_for(0, tiles_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        TileStates states;
        reduce(tile(t), 0, plan_.reduced.numel, states);
        finish(tile(t), states);
      }
    });
    return;
  }
  char* slots = static_cast<char*>(ctx.scratch(size_t(tasks() * slot_bytes())));
  parallel_for(0, tasks(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const Tile part = tile(task / chunks_);
      const int64_t first = task % chunks_ * chunk_;
      TileStates states;
      reduce(part, first, std::min(first + chunk_, plan_.reduced.numel), states);
      save(part, states, slots + task * slot_bytes());
    }
  });
  for (int64_t t = 0; t < tiles_; ++t) {
    TileStates states;
    merge_slots(tile(t), slots + t * chunks_ * slot_bytes(), chunks_, states);
    finish(tile(t), states);
  }
}

/// The states of a tile over positions begin … end - 1 of the reduced dimensions.
void Reduction::reduce(Tile tile, int64_t begin, int64_t end, TileStates& states) const {
  if (end - begin <= leaf_) {
    loops_.start(tile.width, states);
    if (by_rows_)
      along_rows(tile, begin, end, states);
    else
      across_columns(tile, begin, end, states);
    return;
  }
  int64_t half = leaf_;
  while (half * 2 < end - begin) half *= 2;
  TileStates other;
  reduce(tile, begin, begin + half, states);
  reduce(tile, begin + half, end, other);
  loops_.merge(params_.parameters, other, 0, tile.width, states);
}

void Reduction::along_rows(Tile tile, int64_t begin, int64_t end, TileStates& states) const {
  int64_t j = 0;
  const int64_t step = plan_.kept.inner_in() * in_size_;
  plan_.kept.for_runs(tile.begin, tile.begin + tile.width, [&](int64_t offset, int64_t, int64_t count) {
    const char* row = in_ + offset * in_size_;
    for (int64_t i = 0; i < count; ++i, row += step) along_row(row, begin, end, j++, states);
  });
}

void Reduction::along_row(const char* row, int64_t begin, int64_t end, int64_t j,
                          TileStates& states) const {
  alignas(64) char buffer[kBufferBytes];
  int64_t filled = 0;
  const int64_t stride = plan_.reduced.inner_in();
  plan_.reduced.for_runs(begin, end, [&](int64_t offset, int64_t, int64_t count) {
    const char* from = row + offset * in_size_;
    if (direct_ && stride == 1 && (count >= kDirectRun || count == end - begin)) {
      loops_.block(params_.parameters, from, count, j, states);
    } else {
      load_(from, stride, buffer + filled * size_, 1, count);
      filled += count;
    }
  });
  if (filled > 0) loops_.block(params_.parameters, buffer, filled, j, states);
}

void Reduction::across_columns(Tile tile, int64_t begin, int64_t end, TileStates& states) const {
  const ReduceDims& kept = plan_.kept;
  const int64_t within = tile.begin % std::max<int64_t>(kept.inner_size(), 1);
  const bool one_run = kept.inner_in() == 1 && within + tile.width <= kept.inner_size();
  if (!direct_ || !one_run) return gathered_columns(tile, begin, end, states);
  const char* column = nullptr;
  kept.for_runs(tile.begin, tile.begin + tile.width,
                [&](int64_t offset, int64_t, int64_t) { column = in_ + offset * in_size_; });
  plan_.reduced.for_runs(begin, end, [&](int64_t offset, int64_t, int64_t rows) {
    combine_rows(column + offset * size_, plan_.reduced.inner_in(), rows, tile.width, states);
  });
}

void Reduction::gathered_columns(Tile tile, int64_t begin, int64_t end, TileStates& states) const {
  alignas(64) char buffer[kBufferBytes];
  const int64_t row_bytes = tile.width * size_;
  const int64_t most = kBufferBytes / row_bytes;
  int64_t rows = 0;
  const auto gather_row = [&](const char* row) {
    char* to = buffer + rows * row_bytes;
    plan_.kept.for_runs(tile.begin, tile.begin + tile.width, [&](int64_t offset, int64_t, int64_t count) {
      load_(row + offset * in_size_, plan_.kept.inner_in(), to, 1, count);
      to += count * size_;
    });
    if (++rows < most) return;
    combine_rows(buffer, tile.width, rows, tile.width, states);
    rows = 0;
  };
  const int64_t step = plan_.reduced.inner_in() * in_size_;
  plan_.reduced.for_runs(begin, end, [&](int64_t offset, int64_t, int64_t count) {
    for (int64_t r = 0; r < count; ++r) gather_row(in_ + offset * in_size_ + r * step);
  });
  combine_rows(buffer, tile.width, rows, tile.width, states);
}

/// Rows that are narrow and follow each other closely are taken many at a time, as one wide row.
void Reduction::combine_rows(const char* data, int64_t stride, int64_t rows, int64_t width,
                             TileStates& states) const {
  const int64_t fold = std::min<int64_t>(32, kTileBytes / size_ / width);
  if (stride == width && width < kNarrow && rows >= 4 * fold) {
    TileStates wide;
    loops_.start(fold * width, wide);
    loops_.rows(params_.parameters, data, fold * width, rows / fold, fold * width, wide);
    for (int64_t i = 0; i < fold; ++i) loops_.merge(params_.parameters, wide, i * width, width, states);
    data += rows / fold * fold * width * size_;
    rows %= fold;
  }
  loops_.rows(params_.parameters, data, stride, rows, width, states);
}

void Reduction::finish(Tile tile, const TileStates& states) const {
  alignas(64) char results[kTileBytes];
  loops_.finish(params_.parameters, states, tile.width, results);
  const char* from = results;
  plan_.kept.for_runs(tile.begin, tile.begin + tile.width, [&](int64_t, int64_t offset, int64_t count) {
    store_(from, 1, params_.out.as<char>() + offset * out_size_, plan_.kept.inner_out(), count);
    from += count * size_;
  });
}

void Reduction::save(Tile tile, const TileStates& states, char* slot) const {
  for (int64_t p = 0; p < parts_; ++p)
    std::memcpy(slot + p * tile.width * size_, states.bytes[p], size_t(tile.width * size_));
}

void Reduction::merge_slots(Tile tile, const char* slots, int64_t count, TileStates& states) const {
  if (count == 1) {
    for (int64_t p = 0; p < parts_; ++p)
      std::memcpy(states.bytes[p], slots + p * tile.width * size_, size_t(tile.width * size_));
    return;
  }
  TileStates other;
  merge_slots(tile, slots, count / 2, states);
  merge_slots(tile, slots + count / 2 * slot_bytes(), count - count / 2, other);
  loops_.merge(params_.parameters, other, 0, tile.width, states);
}

const ReduceTable& reduce_table() {
#if defined(HEARTH_CPU_AVX512)
  static const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) return reduce_table_avx512;
#endif
#if defined(HEARTH_CPU_AVX2)
  return reduce_table_avx2;
#else
  return reduce_table_generic;
#endif
}

}  // namespace

void run(const ReduceParams& params, Ctx& ctx) {
  const ReduceLoops* loops = reduce_table().loops[params.functor][int(params.compute)];
  Reduction(params, *loops).run(ctx);
}

}  // namespace hearth::cpu
