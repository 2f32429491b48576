// The backward pass of attention, unless cuDNN computes it. The gradients of query, key and value
// come from one kernel each, which computes the scores again: no element is written by two blocks,
// so sums have a fixed order. Each block has a tile of rows of a gradient. Bound as
// attention_tiles.cuh says, by eight products for each pair of a tile of queries and a tile of
// keys, where five would do.
#include "kernels/cuda/attention_cudnn.h"
#include "kernels/cuda/attention_tiles.cuh"
#include "kernels/cuda/floating.h"

namespace hearth::cuda {

namespace {

enum class Target { kQuery, kKey, kValue };

constexpr int kThreadsOfRow = 32;  // a warp

/// sums[batch, heads, rows] = the dot products of the rows of a and b.
template <class T>
__global__ void __launch_bounds__(kBlock)
    row_products_kernel(const __grid_constant__ HeadMatrices<T> a,
                        const __grid_constant__ HeadMatrices<T> b, int64_t heads, int64_t count,
                        Register<T>* sums) {
  constexpr int kRows = kBlock / kThreadsOfRow;
  const int lane = static_cast<int>(threadIdx.x) % kThreadsOfRow;
  const int64_t step = int64_t{gridDim.x} * kRows;
  for (int64_t i = int64_t{blockIdx.x} * kRows + threadIdx.x / kThreadsOfRow; i < count;
       i += step) {
    const int64_t head = i / a.rows, row = i % a.rows;
    const auto x = a.at(head / heads, head % heads), y = b.at(head / heads, head % heads);
    Register<T> sum = 0;
    for (int64_t c = lane; c < x.width; c += kThreadsOfRow)
      sum += to_register(x.at(row, c)) * to_register(y.at(row, c));
    for (int distance = kThreadsOfRow / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(~0u, sum, distance);
    if (lane == 0) sums[i] = sum;
  }
}

template <class T>
struct AttentionGradientArgs {
  AttentionInputs<T> in;
  HeadMatrices<T> grad_out, target;
  const Register<T>* row_products;  // of grad_out and out
  AttentionTasks<T> tasks;
};

/// Adds one query head's part to the sums of a tile of rows of the target.
template <Target kTarget, class T, int kColumns>
__device__ __forceinline__ void add_head(const AttentionGradientArgs<T>& args, int64_t n,
                                         int64_t head, int64_t own_row, int64_t column,
                                         AttentionShared<T, kColumns>& shared,
                                         Register<T> (&sums)[kPerThread<T>][kColumns]) {
  using C = Register<T>;
  constexpr int kP = kPerThread<T>, kSide = kTileSide<T>;
  constexpr bool kOwnsRows = kTarget == Target::kQuery;  // else the tile's rows are keys
  const AttentionInputs<T>& in = args.in;
  const auto query = in.query.at(n, head), key = in.key.at(n, head / in.heads_per_key_head),
             value = in.value.at(n, head / in.heads_per_key_head), grad = args.grad_out.at(n, head);
  const int64_t first_of_head = (n * in.heads + head) * query.rows;
  const int64_t begin = !kOwnsRows && in.causal ? own_row : 0;
  const int64_t end = !kOwnsRows  ? query.rows
                      : in.causal ? min(key.rows, own_row + kSide)
                                  : key.rows;
  C weights[kP][kP], grads[kP][kP];
  for (int64_t other = begin; other < end; other += kSide) {
    dot_rows(kOwnsRows ? query : key, own_row, kOwnsRows ? key : query, other, shared, weights);
    if (kTarget != Target::kValue)
      dot_rows(kOwnsRows ? grad : value, own_row, kOwnsRows ? value : grad, other, shared, grads);
    for (int a = 0; a < kP; ++a)
      for (int b = 0; b < kP; ++b) {
        const int y = tile_y() + a * kTileThreads, x = tile_x() + b * kTileThreads;
        const int64_t row = kOwnsRows ? own_row + y : other + x,
                      col = kOwnsRows ? other + x : own_row + y;
        C weight = 0;
        if (in.is_visible(row, col)) {
          weight =
              exp(in.score(n, head, row, col, weights[a][b]) - in.logsumexp[first_of_head + row]);
          if (kTarget != Target::kValue)
            weight *= grads[a][b] - args.row_products[first_of_head + row];
        }
        shared.weights[y][x] = weight;
      }
    add_product(kTarget == Target::kQuery ? key
                : kTarget == Target::kKey ? query
                                          : grad,
                other, column, shared, sums);
  }
}

template <Target kTarget, class T, int kColumns>
__global__ void __launch_bounds__(kBlock)
    attention_gradient_kernel(const __grid_constant__ AttentionGradientArgs<T> args) {
  using C = Register<T>;
  __shared__ AttentionShared<T, kColumns> shared;
  const AttentionInputs<T>& in = args.in;
  const int64_t column = int64_t{blockIdx.y} * kTileThreads * kColumns;
  const int64_t num_heads = kTarget == Target::kQuery ? 1 : in.heads_per_key_head;
  for (int64_t i = blockIdx.x; i < args.tasks.count; i += gridDim.x) {
    const auto [n, head, row] = args.tasks.at(i);
    C sums[kPerThread<T>][kColumns] = {};
    for (int64_t h = 0; h < num_heads; ++h)
      add_head<kTarget>(args, n, head * num_heads + h, row, column, shared, sums);
    const C factor = kTarget == Target::kValue ? C(1) : in.scale;
    store_rows(args.target.at(n, head), row, column, sums, [&](int) { return factor; });
  }
}

/// Computes one gradient, if it is defined.
template <Target kTarget, class T>
void compute(const AttentionBackwardParams& params, const View& target, const Register<T>* products,
             Ctx& ctx) {
  if (!target.defined() || target.numel == 0) return;
  const AttentionGradientArgs<T> args{AttentionInputs<T>(params.operands),
                                      HeadMatrices<T>(params.grad_out),
                                      HeadMatrices<T>(target),
                                      products,
                                      {target.sizes[0], target.sizes[1], target.sizes[2]}};
  with_columns<T>(target.sizes[3], [&](auto columns) {
    launch(attention_gradient_kernel<kTarget, T, columns()>,
           args.tasks.grid(target.sizes[3], columns()), stream_of(ctx), args);
  });
}

}  // namespace

void run(const AttentionBackwardParams& params, Ctx& ctx) {
  if (run_cudnn(params, ctx)) return;
  const View& out = params.operands.out;
  with_floating("scaled_dot_product_attention", out.dtype, [&](auto element) {
    using T = decltype(element);
    using C = Register<T>;
    const int64_t rows = out.sizes[0] * out.sizes[1] * out.sizes[2];
    C* const products = static_cast<C*>(ctx.scratch(size_t(rows) * sizeof(C)));
    if (params.grad_query.defined() || params.grad_key.defined())
      launch(row_products_kernel<T>, grid_for(rows * kThreadsOfRow, stream_of(ctx)), stream_of(ctx),
             HeadMatrices<T>(params.grad_out), HeadMatrices<T>(out), out.sizes[1], rows, products);
    compute<Target::kQuery, T>(params, params.grad_query, products, ctx);
    compute<Target::kKey, T>(params, params.grad_key, products, ctx);
    compute<Target::kValue, T>(params, params.grad_value, products, ctx);
  });
}

}  // namespace hearth::cuda
