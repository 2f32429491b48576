// out = dropout(softmax(scale * query @ key^T + mask)) @ value, and its gradients. A task is 128
// rows of a query head or, backward, all query heads of one key head. It computes the scores in
// tiles of 128 rows by 256 keys, which stay in the cache. Bound by the multiplications of the
// matrix products: two for each tile, backward up to five.
#include "seam/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel_for.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/matmul_gemm.h"
#include "kernels/cpu/reduce_convert.h"
#include "kernels/cpu/softmax_kernels.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kTileRows = 128;
constexpr int64_t kTileKeys = 256;

template <class T>
const SoftmaxLoops& softmax_loops_of() {
  return loops_for<T>(HEARTH_ISA_TABLE(softmax_table));
}

/// The matrices [rows, width] of a 4-D view, in type T and with contiguous rows: in place, or a
/// copy in scratch memory.
template <class T>
class HeadMatrices {
 public:
  HeadMatrices() = default;
  HeadMatrices(const View& view, Ctx& ctx) : original_(view), view_(view) {
    if (!view.defined() || is_direct(view)) return;
    view_.dtype = dtype_of<T>;
    view_.make_contiguous();
    view_.data = ctx.scratch(size_t(view.numel) * sizeof(T));
  }
  /// Returns the view's matrices; copies their elements unless they are used in place.
  static HeadMatrices filled(const View& view, Ctx& ctx) {
    HeadMatrices result(view, ctx);
    if (view.defined() && !result.is_in_place()) copy(view, result.view_, ctx);
    return result;
  }
  /// Copies the elements to the view, unless they were written there.
  void write_back(Ctx& ctx) const {
    if (defined() && !is_in_place()) copy(view_, original_, ctx);
  }

  bool defined() const { return view_.defined(); }
  int64_t rows() const { return view_.sizes[2]; }
  int64_t width() const { return view_.sizes[3]; }
  T* row(int64_t batch, int64_t head, int64_t row) const {
    return view_.template as<T>() + batch * view_.strides[0] + head * view_.strides[1] +
           row * view_.strides[2];
  }
  int64_t stride() const { return view_.strides[2]; }
  void zero(int64_t batch, int64_t head) const {
    for (int64_t i = 0; i < rows(); ++i) std::fill_n(row(batch, head, i), width(), T(0));
  }

 private:
  static bool is_direct(const View& view) {
    return view.dtype == dtype_of<T> && (view.strides[3] == 1 || view.sizes[3] <= 1) &&
           view.strides[2] >= view.sizes[3] &&
           view.strides[2] <= std::numeric_limits<int32_t>::max();
  }
  bool is_in_place() const { return view_.data == original_.data; }
  View original_, view_;
};

/// out[m, n] = alpha * a @ b + beta * out.
template <class T>
void multiply(int64_t m, int64_t n, int64_t k, GemmOperand a, GemmOperand b, double alpha,
              double beta, T* out, int64_t ld_out) {
  Gemm gemm;
  gemm.dtype = dtype_of<T>;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.a = a;
  gemm.b = b;
  gemm.alpha = alpha;
  gemm.beta = beta;
  gemm.out = out;
  gemm.ld_out = ld_out;
  cpu::multiply(gemm);
}

/// A tile of the scores of one head: rows [row, row + rows) and keys [key, key + keys).
struct ScoreTile {
  int64_t batch, head, row, rows, key = 0, keys = 0;
};

/// The scores before the softmax, which forward and backward compute in the same way.
template <class T>
class Scores {
 public:
  Scores(const AttentionOperands& operands, Ctx& ctx)
      : query(HeadMatrices<T>::filled(operands.query, ctx)),
        key(HeadMatrices<T>::filled(operands.key, ctx)),
        value(HeadMatrices<T>::filled(operands.value, ctx)),
        batch(operands.query.sizes[0]),
        heads(operands.query.sizes[1]),
        key_heads(operands.key.sizes[1]),
        heads_per_key_head(heads / key_heads),
        scale(operands.scale),
        mask_(operands.mask),
        kept_(operands.kept),
        kept_scale_(static_cast<T>(operands.kept_scale)),
        causal_(operands.causal) {}

  /// Calls f(tile) for the tiles of a block of rows, from left to right.
  template <class F>
  void for_each_tile(ScoreTile block, const F& f) const {
    const int64_t visible_to_last =
        causal_ ? std::min(key.rows(), block.row + block.rows) : key.rows();
    for (int64_t first = 0; first < visible_to_last; first += kTileKeys) {
      block.key = first;
      block.keys = std::min(kTileKeys, visible_to_last - first);
      f(block);
    }
  }
  /// The number of the tile's keys to which its row i attends.
  int64_t num_visible(const ScoreTile& tile, int64_t i) const {
    return causal_ ? std::clamp<int64_t>(tile.row + i + 1 - tile.key, 0, tile.keys) : tile.keys;
  }
  /// scores = scale * query @ key^T + mask, with rows of kTileKeys elements.
  void compute(const ScoreTile& tile, T* scores) const {
    multiply(tile.rows, tile.keys, query.width(), query_rows(tile), keys(tile, true), scale, 0,
             scores, kTileKeys);
    if (mask_.defined())
      for (int64_t i = 0; i < tile.rows; ++i) add_mask(tile, i, scores + i * kTileKeys);
  }

  /// Applies dropout, if there is any, to a tile of weights or of their gradients.
  void drop(const ScoreTile& tile, T* weights) const {
    if (!kept_.defined()) return;
    const bool* kept = kept_.as<bool>() + tile.key +
                       ((tile.batch * heads + tile.head) * query.rows() + tile.row) * key.rows();
    for (int64_t i = 0; i < tile.rows; ++i, kept += key.rows())
      softmax_loops_of<T>().drop(kept, weights + i * kTileKeys, tile.keys, &kept_scale_);
  }

  GemmOperand query_rows(const ScoreTile& tile) const {
    return {query.row(tile.batch, tile.head, tile.row), query.stride(), false};
  }
  GemmOperand keys(const ScoreTile& tile, bool transposed) const {
    return {key.row(tile.batch, tile.head / heads_per_key_head, tile.key), key.stride(),
            transposed};
  }
  GemmOperand values(const ScoreTile& tile, bool transposed) const {
    return {value.row(tile.batch, tile.head / heads_per_key_head, tile.key), value.stride(),
            transposed};
  }

  const HeadMatrices<T> query, key, value;
  const int64_t batch, heads, key_heads;
  const int64_t heads_per_key_head;  // query heads that share a key head
  const double scale;

 private:
  void add_mask(const ScoreTile& tile, int64_t i, T* scores) const {
    const int64_t offset = tile.batch * mask_.strides[0] + tile.head * mask_.strides[1] +
                           (tile.row + i) * mask_.strides[2] + tile.key * mask_.strides[3];
    const void* from = mask_.as<char>() + offset * int64_t(element_size(mask_.dtype));
    alignas(64) T buffer[kTileKeys];
    if (mask_.dtype != dtype_of<T> || mask_.strides[3] != 1) {
      StridedConvert(mask_.dtype, dtype_of<T>)(from, mask_.strides[3], buffer, 1, tile.keys);
      from = buffer;
    }
    softmax_loops_of<T>().add(from, scores, tile.keys);
  }

  const View mask_, kept_;
  const T kept_scale_;
  const bool causal_;
};

/// The softmax of a block of rows, accumulated tile by tile.
template <class T>
struct OnlineSoftmax {
  static constexpr T kLowest = -std::numeric_limits<T>::infinity();
  T largest[kTileRows], sum[kTileRows];

  OnlineSoftmax() {
    std::fill_n(largest, kTileRows, kLowest);
    std::fill_n(sum, kTileRows, T(0));
  }
  /// Replaces the first n scores of row i by exp(score - largest), the other `keys - n` by 0. If
  /// `largest` grows, scales the row's sum and result accordingly.
  void add(int64_t i, T* scores, int64_t n, int64_t keys, T* result, int64_t width) {
    const SoftmaxLoops& loops = softmax_loops_of<T>();
    const T previous = largest[i];
    loops.max[0](scores, n, &largest[i]);
    if (largest[i] != previous) {
      const T factor = std::exp(previous - largest[i]);
      sum[i] *= factor;
      if (previous != kLowest) loops.scale[0](result, result, width, &factor);
    }
    const T base = largest[i] == kLowest ? T(0) : largest[i];
    loops.exp_sum[0](scores, scores, n, &base, &sum[i]);
    std::fill(scores + n, scores + keys, T(0));
  }
  /// Divides the result of row i by the sum; computes the row's logsumexp. A row whose keys are all
  /// masked gets zeros, and infinity as its logsumexp, so that its weights in backward are 0.
  void finish(int64_t i, T* result, int64_t width, T* logsumexp) const {
    const T factor = sum[i] == 0 ? T(0) : 1 / sum[i];
    softmax_loops_of<T>().scale[0](result, result, width, &factor);
    *logsumexp = sum[i] == 0 ? std::numeric_limits<T>::infinity() : largest[i] + std::log(sum[i]);
  }
};

template <class T>
void forward(const AttentionOperands& operands, Ctx& ctx) {
  const Scores<T> scores(operands, ctx);
  const HeadMatrices<T> out(operands.out, ctx);
  const int64_t rows = out.rows(), width = out.width(), blocks = (rows + kTileRows - 1) / kTileRows;
  const int64_t tasks = scores.batch * scores.heads * blocks;
  const int slots = task_slots(tasks);
  T* const tiles = static_cast<T*>(ctx.scratch(sizeof(T) * size_t(slots * kTileRows * kTileKeys)));
  parallel_tasks(tasks, slots, [&](int64_t task, int slot) {
    T* const tile_scores = tiles + slot * kTileRows * kTileKeys;
    const int64_t head = task / blocks, row = task % blocks * kTileRows;
    const ScoreTile block{head / scores.heads, head % scores.heads, row,
                          std::min(kTileRows, rows - row)};
    T* const result = out.row(block.batch, block.head, row);
    for (int64_t i = 0; i < block.rows; ++i) std::fill_n(result + i * out.stride(), width, T(0));
    OnlineSoftmax<T> softmax;
    scores.for_each_tile(block, [&](const ScoreTile& tile) {
      scores.compute(tile, tile_scores);
      for (int64_t i = 0; i < tile.rows; ++i)
        softmax.add(i, tile_scores + i * kTileKeys, scores.num_visible(tile, i), tile.keys,
                    result + i * out.stride(), width);
      scores.drop(tile, tile_scores);
      multiply(tile.rows, width, tile.keys, {tile_scores, kTileKeys, false},
               scores.values(tile, false), 1, 1, result, out.stride());
    });
    T* const logsumexp = operands.logsumexp.as<T>() + head * rows + row;
    for (int64_t i = 0; i < block.rows; ++i)
      softmax.finish(i, result + i * out.stride(), width, logsumexp + i);
  });
  out.write_back(ctx);
}

template <class T>
class Backward {
 public:
  Backward(const AttentionBackwardParams& params, Ctx& ctx)
      : scores_(params.operands, ctx),
        out_(HeadMatrices<T>::filled(params.operands.out, ctx)),
        grad_out_(HeadMatrices<T>::filled(params.grad_out, ctx)),
        grad_query_(params.grad_query, ctx),
        grad_key_(params.grad_key, ctx),
        grad_value_(params.grad_value, ctx),
        logsumexp_(params.operands.logsumexp.as<T>()) {}

  void run(Ctx& ctx) const {
    const int64_t heads = scores_.key_heads, tasks = scores_.batch * heads;
    const int slots = task_slots(tasks);
    const int64_t scratch_per_slot = 2 * kTileRows * kTileKeys + out_.rows();
    T* const scratch = static_cast<T*>(ctx.scratch(sizeof(T) * size_t(slots * scratch_per_slot)));
    parallel_tasks(tasks, slots, [&](int64_t task, int slot) {
      const int64_t batch = task / heads, head = task % heads;
      if (grad_key_.defined()) grad_key_.zero(batch, head);
      if (grad_value_.defined()) grad_value_.zero(batch, head);
      for (int64_t i = 0; i < scores_.heads_per_key_head; ++i)
        add_head(batch, head * scores_.heads_per_key_head + i, scratch + slot * scratch_per_slot);
    });
    grad_query_.write_back(ctx);
    grad_key_.write_back(ctx);
    grad_value_.write_back(ctx);
  }

 private:
  void add_head(int64_t batch, int64_t head, T* scratch) const {
    if (grad_query_.defined()) grad_query_.zero(batch, head);
    T* const sums = scratch + 2 * kTileRows * kTileKeys;  // of grad_out * out, for each row
    for (int64_t i = 0; i < out_.rows(); ++i) {
      sums[i] = 0;
      softmax_loops_of<T>().dot[0][0](grad_out_.row(batch, head, i), out_.row(batch, head, i),
                                      out_.width(), &sums[i]);
    }
    for (int64_t row = 0; row < out_.rows(); row += kTileRows)
      scores_.for_each_tile({batch, head, row, std::min(kTileRows, out_.rows() - row)},
                            [&](const ScoreTile& tile) {
                              add_tile(tile, scratch, scratch + kTileRows * kTileKeys, sums + row);
                            });
  }

  void add_tile(const ScoreTile& tile, T* weights, T* grad, const T* sums) const {
    const GemmOperand grad_out{grad_out_.row(tile.batch, tile.head, tile.row), grad_out_.stride(),
                               false};
    const int64_t key_head = tile.head / scores_.heads_per_key_head;
    compute_weights(tile, weights);
    if (grad_query_.defined() || grad_key_.defined()) {
      multiply(tile.rows, tile.keys, out_.width(), grad_out, scores_.values(tile, true), 1, 0, grad,
               kTileKeys);
      scores_.drop(tile, grad);
      turn_into_scores_gradients(tile, weights, grad, sums);
    }
    if (grad_value_.defined()) {
      scores_.drop(tile, weights);
      multiply(tile.keys, out_.width(), tile.rows, {weights, kTileKeys, true}, grad_out, 1, 1,
               grad_value_.row(tile.batch, key_head, tile.key), grad_value_.stride());
    }
    const int64_t width = scores_.query.width();
    if (grad_query_.defined())
      multiply(tile.rows, width, tile.keys, {grad, kTileKeys, false}, scores_.keys(tile, false),
               scores_.scale, 1, grad_query_.row(tile.batch, tile.head, tile.row),
               grad_query_.stride());
    if (grad_key_.defined())
      multiply(tile.keys, width, tile.rows, {grad, kTileKeys, true}, scores_.query_rows(tile),
               scores_.scale, 1, grad_key_.row(tile.batch, key_head, tile.key), grad_key_.stride());
  }

  /// The softmax of the scores, before dropout.
  void compute_weights(const ScoreTile& tile, T* weights) const {
    const T* const logsumexp =
        logsumexp_ + (tile.batch * scores_.heads + tile.head) * out_.rows() + tile.row;
    scores_.compute(tile, weights);
    for (int64_t i = 0; i < tile.rows; ++i) {
      T unused = 0, *const line = weights + i * kTileKeys;
      const int64_t n = scores_.num_visible(tile, i);
      softmax_loops_of<T>().exp_sum[0](line, line, n, logsumexp + i, &unused);
      std::fill(line + n, line + tile.keys, T(0));
    }
  }

  /// Replaces the gradients of the weights by those of the scores.
  void turn_into_scores_gradients(const ScoreTile& tile, const T* weights, T* grad,
                                  const T* sums) const {
    for (int64_t i = 0; i < tile.rows; ++i) {
      T* const line = grad + i * kTileKeys;
      const int64_t n = scores_.num_visible(tile, i);
      softmax_loops_of<T>().gradient[0][0](line, weights + i * kTileKeys, line, n, sums + i);
      std::fill(line + n, line + tile.keys, T(0));
    }
  }

  const Scores<T> scores_;
  const HeadMatrices<T> out_, grad_out_, grad_query_, grad_key_, grad_value_;
  const T* const logsumexp_;
};

}  // namespace

void run(const AttentionParams& params, Ctx& ctx) {
  params.operands.query.dtype == kDouble ? forward<double>(params.operands, ctx)
                                         : forward<float>(params.operands, ctx);
}

void run(const AttentionBackwardParams& params, Ctx& ctx) {
  params.operands.query.dtype == kDouble ? Backward<double>(params, ctx).run(ctx)
                                         : Backward<float>(params, ctx).run(ctx);
}

}  // namespace hearth::cpu
