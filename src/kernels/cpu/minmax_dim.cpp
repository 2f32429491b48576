// Max or min along a dimension, with the index. Along rows, blocks are reduced by the SIMD loops of
// Max or Min, and a block is searched for the index only if it beats the blocks before it. Across
// columns, a SIMD loop tracks the index of each column's best element. The threads divide the tasks
// of ReduceGrid. Bound by memory: each element is read once.
#include "seam/minmax_dim.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/minmax_dim_kernels.h"
#include "kernels/cpu/reduce_grid.h"
#include "seam/reduce.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kRowBlock = 1024;  // elements of a row that are searched at once

constexpr fn::Max kLargest;
constexpr fn::Min kSmallest;

const MinMaxTable& minmax_dim_table() { return HEARTH_ISA_TABLE(minmax_dim_table); }

template <class T>
bool is_nan(T x) {
  return x != x;
}

/// Max or min along a dimension, with the index, in the compute type T.
template <class T>
class MinMaxDim {
 public:
  MinMaxDim(const MinMaxDimParams& params, const View& out)
      : params_(params),
        row_loops_(*reduce_table().loops[functor_of(params.largest)][int(dtype_of<T>)]),
        column_loop_(minmax_dim_table().rows[int(dtype_of<T>)][params.largest]),
        grid_(params.in, out, dtype_of<T>) {}

  void run(Ctx& ctx) const;

 private:
  /// For each output of a tile: the best element so far, and its index, -1 before the first one.
  struct Best {
    T value[kReduceTileBytes / sizeof(T)];
    int64_t index[kReduceTileBytes / sizeof(T)];
  };

  static int functor_of(bool largest) {
    return largest ? fn::index_of<fn::Max, fn::Reductions> : fn::index_of<fn::Min, fn::Reductions>;
  }
  bool beats(T a, T b) const { return is_nan(a) ? !is_nan(b) : params_.largest ? a > b : a < b; }

  void search(OutputTile tile, int64_t begin, int64_t end, Best& best) const;
  void search_row(const char* data, int64_t n, int64_t position, int64_t j, Best& best) const;
  void search_columns(const char* data, int64_t stride, int64_t rows, int64_t width,
                      int64_t position, Best& best) const;
  bool improves(T value, int64_t j, const Best& best) const {
    return best.index[j] < 0 || beats(value, best.value[j]);
  }
  void store(OutputTile tile, const Best& best) const;

  const MinMaxDimParams& params_;
  const ReduceLoops& row_loops_;
  const MinMaxRowsFn column_loop_;
  const ReduceGrid grid_;
};

template <class T>
void MinMaxDim<T>::run(Ctx& ctx) const {
  if (grid_.chunks() == 1) {
    grid_.for_tasks([this](int64_t, OutputTile tile, int64_t begin, int64_t end) {
      Best best;
      search(tile, begin, end, best);
      store(tile, best);
    });
    return;
  }
  Best* partial =
      static_cast<Best*>(ctx.scratch(size_t(grid_.tiles() * grid_.chunks()) * sizeof(Best)));
  grid_.for_tasks([this, partial](int64_t task, OutputTile tile, int64_t begin, int64_t end) {
    search(tile, begin, end, partial[task]);
  });
  for (int64_t t = 0; t < grid_.tiles(); ++t) {
    Best& best = partial[t * grid_.chunks()];
    const OutputTile tile = grid_.tile(t);
    for (int64_t c = 1; c < grid_.chunks(); ++c) {
      const Best& next = (&best)[c];
      for (int64_t j = 0; j < tile.width; ++j)
        if (beats(next.value[j], best.value[j])) {
          best.value[j] = next.value[j];
          best.index[j] = next.index[j];
        }
    }
    store(tile, best);
  }
}

/// Finds the best of positions [begin, end) for every output of a tile.
template <class T>
void MinMaxDim<T>::search(OutputTile tile, int64_t begin, int64_t end, Best& best) const {
  std::fill_n(best.index, tile.width, -1);
  if (grid_.by_rows()) {
    grid_.for_rows(tile, [&](int64_t j, const char* row) {
      for (int64_t b = begin; b < end; b += kRowBlock)
        grid_.along_row(row, b, std::min(b + kRowBlock, end),
                        [&](const char* data, int64_t n) { search_row(data, n, b, j, best); });
    });
    return;
  }
  for (int64_t b = begin; b < end; b += kMinMaxRows) {
    int64_t position = b;
    const int64_t e = std::min(b + kMinMaxRows, end);
    grid_.across_columns(tile, b, e, [&](const char* data, int64_t stride, int64_t rows) {
      search_columns(data, stride, rows, tile.width, position, best);
      position += rows;
    });
  }
}

template <class T>
void MinMaxDim<T>::search_row(const char* data, int64_t n, int64_t position, int64_t j,
                              Best& best) const {
  TileStates states;
  row_loops_.start(1, states);
  const void* functor = params_.largest ? static_cast<const void*>(&kLargest) : &kSmallest;
  row_loops_.block(functor, data, n, 0, states);
  T value;
  std::memcpy(&value, states.bytes, sizeof(T));
  if (!improves(value, j, best)) return;
  const T* x = reinterpret_cast<const T*>(data);
  int64_t i = 0;
  if (is_nan(value))
    while (!is_nan(x[i])) ++i;
  else
    while (!(x[i] == value)) ++i;
  best.value[j] = value;
  best.index[j] = position + i;
}

template <class T>
void MinMaxDim<T>::search_columns(const char* data, int64_t stride, int64_t rows, int64_t width,
                                  int64_t position, Best& best) const {
  using Row = std::conditional_t<sizeof(T) == 1, int8_t,
                                 std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;
  alignas(64) T values[kReduceTileBytes / sizeof(T)];
  alignas(64) Row best_rows[kReduceTileBytes / sizeof(T)];
  column_loop_(data, stride, rows, width, values, best_rows);
  for (int64_t j = 0; j < width; ++j)
    if (improves(values[j], j, best)) {
      best.value[j] = values[j];
      best.index[j] = position + best_rows[j];
    }
}

template <class T>
void MinMaxDim<T>::store(OutputTile tile, const Best& best) const {
  if (params_.values.defined())
    store_tile(ReducePlan(params_.in, params_.values).kept, tile, best.value, dtype_of<T>,
               params_.values);
  if (params_.indices.defined())
    store_tile(ReducePlan(params_.in, params_.indices).kept, tile, best.index, kLong,
               params_.indices);
}

template <class T>
void run_in(const MinMaxDimParams& params, Ctx& ctx) {
  const View& out = params.values.defined() ? params.values : params.indices;
  if (out.defined() && out.numel > 0) MinMaxDim<T>(params, out).run(ctx);
}

}  // namespace

void run(const MinMaxDimParams& params, Ctx& ctx) {
  switch (reduce_compute_type(params.in.dtype)) {
    case kFloat: return run_in<float>(params, ctx);
    case kDouble: return run_in<double>(params, ctx);
    case kLong: return run_in<int64_t>(params, ctx);
    default: return run_in<bool>(params, ctx);
  }
}

}  // namespace hearth::cpu
