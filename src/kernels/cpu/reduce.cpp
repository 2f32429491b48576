// Reductions over any dimensions: sums, products, extremes, norms and more. The threads divide a
// grid of tiles of outputs by chunks of reduced positions (reduce_grid.h), which depends on the
// shapes alone; the states of chunks are merged in a fixed order. Bound by memory: each element is
// read once; reductions with exp or pow by their arithmetic.
#include "seam/reduce.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/reduce_grid.h"

namespace hearth::cpu {

namespace {

// Narrower rows are joined into longer ones, so that SIMD registers are full.
constexpr int64_t kNarrow = 64;
constexpr int64_t kMaxJoinedRows = 32;

/// One reduction. A chunk of the grid is split in two, recursively down to leaves of at most
/// grid_.leaf() positions, and the states of both sides are merged, so that rounding errors grow
/// with the logarithm of the size. The first side has a power of two of leaves.
class Reduction {
 public:
  Reduction(const ReduceParams& params, const ReduceLoops& loops)
      : params_(params),
        loops_(loops),
        grid_(params.in, params.out, params.compute),
        size_(int64_t(element_size(params.compute))) {}

  void run(Ctx& ctx) const;

 private:
  void reduce(OutputTile tile, int64_t begin, int64_t end, TileStates& states) const;
  void reduce_leaf(OutputTile tile, int64_t begin, int64_t end, TileStates& states) const;
  void combine_rows(const char* data, int64_t stride, int64_t rows, int64_t width,
                    TileStates& states) const;
  void finish(OutputTile tile, const TileStates& states) const;

  /// Bytes of a tile's saved states: tile_width elements for each of the `loops.parts` parts of a
  /// state.
  int64_t saved_bytes() const { return grid_.tile_width() * loops_.parts * size_; }
  void save(OutputTile tile, const TileStates& states, char* saved) const;
  void load(OutputTile tile, const char* saved, TileStates& states) const;
  void merge_saved(OutputTile tile, const char* saved, int64_t count, TileStates& states) const;

  const ReduceParams& params_;
  const ReduceLoops& loops_;
  const ReduceGrid grid_;
  const int64_t size_;  // bytes of an element
};

void Reduction::run(Ctx& ctx) const {
  if (grid_.chunks() == 1) {
    grid_.for_tasks([this](int64_t, OutputTile tile, int64_t first, int64_t last) {
      TileStates states;
      reduce(tile, first, last, states);
      finish(tile, states);
    });
    return;
  }
  char* saved =
      static_cast<char*>(ctx.scratch(size_t(grid_.tiles() * grid_.chunks() * saved_bytes())));
  grid_.for_tasks([this, saved](int64_t task, OutputTile tile, int64_t first, int64_t last) {
    TileStates states;
    reduce(tile, first, last, states);
    save(tile, states, saved + task * saved_bytes());
  });
  for (int64_t t = 0; t < grid_.tiles(); ++t) {
    TileStates states;
    merge_saved(grid_.tile(t), saved + t * grid_.chunks() * saved_bytes(), grid_.chunks(), states);
    finish(grid_.tile(t), states);
  }
}

/// Computes the states of a tile over positions [begin, end) of the reduced dimensions.
void Reduction::reduce(OutputTile tile, int64_t begin, int64_t end, TileStates& states) const {
  if (end - begin <= grid_.leaf()) return reduce_leaf(tile, begin, end, states);
  int64_t half = grid_.leaf();
  while (half * 2 < end - begin) half *= 2;
  TileStates other;
  reduce(tile, begin, begin + half, states);
  reduce(tile, begin + half, end, other);
  loops_.merge(params_.parameters, other, 0, tile.width, states);
}

void Reduction::reduce_leaf(OutputTile tile, int64_t begin, int64_t end, TileStates& states) const {
  loops_.start(tile.width, states);
  if (begin == end) return;
  if (grid_.by_rows()) {
    grid_.for_rows(tile, [&](int64_t j, const char* row) {
      grid_.along_row(row, begin, end, [&](const char* data, int64_t n) {
        loops_.block(params_.parameters, data, n, j, states);
      });
    });
  } else {
    grid_.across_columns(tile, begin, end, [&](const char* data, int64_t stride, int64_t rows) {
      combine_rows(data, stride, rows, tile.width, states);
    });
  }
}

/// Combines rows into the states. Narrow contiguous rows are first joined, several at a time.
void Reduction::combine_rows(const char* data, int64_t stride, int64_t rows, int64_t width,
                             TileStates& states) const {
  const int64_t joined = std::min(kMaxJoinedRows, kReduceTileBytes / size_ / width);
  if (stride == width && width < kNarrow && rows >= 4 * joined) {
    TileStates wide;
    loops_.start(joined * width, wide);
    loops_.rows(params_.parameters, data, joined * width, rows / joined, joined * width, wide);
    for (int64_t i = 0; i < joined; ++i)
      loops_.merge(params_.parameters, wide, i * width, width, states);
    data += rows / joined * joined * width * size_;
    rows %= joined;
  }
  loops_.rows(params_.parameters, data, stride, rows, width, states);
}

void Reduction::finish(OutputTile tile, const TileStates& states) const {
  alignas(64) char results[kReduceTileBytes];
  loops_.finish(params_.parameters, states, tile.width, results);
  store_tile(grid_.kept(), tile, results, params_.compute, params_.out);
}

void Reduction::save(OutputTile tile, const TileStates& states, char* saved) const {
  for (int p = 0; p < loops_.parts; ++p)
    std::memcpy(saved + p * tile.width * size_, states.bytes[p], size_t(tile.width * size_));
}

void Reduction::load(OutputTile tile, const char* saved, TileStates& states) const {
  for (int p = 0; p < loops_.parts; ++p)
    std::memcpy(states.bytes[p], saved + p * tile.width * size_, size_t(tile.width * size_));
}

void Reduction::merge_saved(OutputTile tile, const char* saved, int64_t count,
                            TileStates& states) const {
  if (count == 1) return load(tile, saved, states);
  const int64_t half = count / 2;
  TileStates other;
  merge_saved(tile, saved, half, states);
  merge_saved(tile, saved + half * saved_bytes(), count - half, other);
  loops_.merge(params_.parameters, other, 0, tile.width, states);
}

/// Reduces a tensor of one block to one element, with Reduction's result but without its overhead.
void reduce_block(const ReduceParams& params, const ReduceLoops& loops) {
  TileStates states;
  alignas(64) char result[64];
  loops.start(1, states);
  loops.block(params.parameters, params.in.data, params.in.numel, 0, states);
  loops.finish(params.parameters, states, 1, result);
  StridedConvert(params.compute, params.out.dtype)(result, 1, params.out.data, 1, 1);
}

bool is_one_block(const ReduceParams& params) {
  const int64_t bytes = params.in.numel * int64_t(element_size(params.compute));
  return params.out.numel == 1 && bytes > 0 && bytes <= kBlockBytes &&
         params.in.dtype == params.compute && params.in.contiguous();
}

}  // namespace

const ReduceTable& reduce_table() { return HEARTH_ISA_TABLE(reduce_table); }

void run(const ReduceParams& params, Ctx& ctx) {
  const ReduceLoops& loops = *reduce_table().loops[params.functor][int(params.compute)];
  if (is_one_block(params))
    reduce_block(params, loops);
  else
    Reduction(params, loops).run(ctx);
}

}  // namespace hearth::cpu
