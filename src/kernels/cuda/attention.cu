// Attention with an online softmax, unless cuDNN computes it. Each block has a tile of query rows
// of one head and goes through the keys tile by tile; slices of wide results, along blockIdx.y,
// each compute the scores again. Bound as attention_tiles.cuh says; the softmax adds an exponential
// per score.
#include "seam/attention.h"

#include "kernels/cuda/attention_cudnn.h"
#include "kernels/cuda/attention_tiles.cuh"
#include "kernels/cuda/floating.h"

namespace hearth::cuda {

namespace {

/// The largest of the values of the 16 threads that share a tile's row.
template <class C>
__device__ C largest_of_row(C value) {
  for (int distance = kTileThreads / 2; distance > 0; distance /= 2) {
    const C other = __shfl_xor_sync(~0u, value, distance);
    value = other > value ? other : value;
  }
  return value;
}
template <class C>
__device__ C sum_of_row(C value) {
  for (int distance = kTileThreads / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(~0u, value, distance);
  return value;
}

/// The softmax of the thread's rows, accumulated tile by tile.
template <class T>
struct OnlineSoftmax {
  using C = Register<T>;
  static constexpr int kP = kPerThread<T>;
  static constexpr C kLowest = -static_cast<C>(__builtin_huge_val());
  C largest[kP], sum[kP];

  __device__ OnlineSoftmax() {
    for (int a = 0; a < kP; ++a) {
      largest[a] = kLowest;
      sum[a] = 0;
    }
  }
  /// Replaces the scores of row a by exp(score - largest); returns the factor by which earlier
  /// results of the row must be multiplied.
  __device__ C add(int a, C (&scores)[kP]) {
    C found = largest[a];
    for (int b = 0; b < kP; ++b) found = scores[b] > found ? scores[b] : found;
    found = largest_of_row(found);
    const C factor = found == largest[a] ? C(1) : exp(largest[a] - found);
    const C base = found == kLowest ? C(0) : found;
    C added = 0;
    for (int b = 0; b < kP; ++b) added += scores[b] = exp(scores[b] - base);
    sum[a] = sum[a] * factor + sum_of_row(added);
    largest[a] = found;
    return factor;
  }
  /// The logsumexp of row a; infinity if no key is visible, so that backward's weights are 0.
  __device__ C logarithm(int a) const { return sum[a] == 0 ? -kLowest : largest[a] + log(sum[a]); }
};

template <class T, int kColumns>
__global__ void __launch_bounds__(kBlock)
    attention_kernel(const __grid_constant__ AttentionInputs<T> in,
                     const __grid_constant__ HeadMatrices<T> out,
                     const __grid_constant__ AttentionTasks<T> tasks) {
  using C = Register<T>;
  constexpr int kP = kPerThread<T>, kSide = kTileSide<T>;
  __shared__ AttentionShared<T, kColumns> shared;
  const int64_t column = int64_t{blockIdx.y} * kTileThreads * kColumns;
  for (int64_t i = blockIdx.x; i < tasks.count; i += gridDim.x) {
    const auto [n, head, row] = tasks.at(i);
    const auto query = in.query.at(n, head), key = in.key.at(n, head / in.heads_per_key_head),
               value = in.value.at(n, head / in.heads_per_key_head);
    const int64_t end = in.causal ? min(key.rows, row + kSide) : key.rows;
    OnlineSoftmax<T> softmax;
    C sums[kP][kColumns] = {}, scores[kP][kP];
    for (int64_t first = 0; first < end; first += kSide) {
      dot_rows(query, row, key, first, shared, scores);
      for (int a = 0; a < kP; ++a) {
        const int y = tile_y() + a * kTileThreads;
        for (int b = 0; b < kP; ++b) {
          const int64_t col = first + tile_x() + b * kTileThreads;
          scores[a][b] = in.is_visible(row + y, col) ? in.score(n, head, row + y, col, scores[a][b])
                                                     : OnlineSoftmax<T>::kLowest;
        }
        const C factor = softmax.add(a, scores[a]);
        for (int b = 0; b < kP; ++b) shared.weights[y][tile_x() + b * kTileThreads] = scores[a][b];
        for (int u = 0; u < kColumns; ++u) sums[a][u] *= factor;
      }
      add_product(value, first, column, shared, sums);
    }
    store_rows(out.at(n, head), row, column, sums,
               [&](int a) { return softmax.sum[a] == 0 ? C(0) : 1 / softmax.sum[a]; });
    for (int a = 0; a < kP; ++a) {
      const int64_t r = row + tile_y() + a * kTileThreads;
      if (column == 0 && tile_x() == 0 && r < query.rows)
        in.logsumexp[(n * in.heads + head) * query.rows + r] = softmax.logarithm(a);
    }
  }
}

}  // namespace

void run(const AttentionParams& params, Ctx& ctx) {
  const AttentionOperands& operands = params.operands;
  if (operands.out.numel == 0 || run_cudnn(params, ctx)) return;
  with_floating("scaled_dot_product_attention", operands.query.dtype, [&](auto element) {
    using T = decltype(element);
    const AttentionInputs<T> in(operands);
    const AttentionTasks<T> tasks(in.batch, in.heads, operands.out.sizes[2]);
    const int64_t width = operands.out.sizes[3];
    with_columns<T>(width, [&](auto columns) {
      launch(attention_kernel<T, columns()>, tasks.grid(width, columns()), stream_of(ctx), in,
             HeadMatrices<T>(operands.out), tasks);
    });
  });
}

}  // namespace hearth::cuda
