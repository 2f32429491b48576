// Rows of attention in which the mask hides all keys: their results become 0. Each warp has one row
// at a time. Bound by memory traffic: 4 bytes of logsumexp per row, and where this is implausible
// the row of the mask and, if all keys are hidden, the row of the result.
#include "kernels/cuda/attention_cudnn.h"
#include "kernels/cuda/attention_tiles.cuh"
#include "kernels/cuda/floating.h"

namespace hearth::cuda {

namespace {

constexpr int kWarp = 32;
/// A logarithm of a sum above this limit belongs to a row with a visible key.
constexpr float kLowestPlausible = -1e30F;

template <class T>
__global__ void __launch_bounds__(kBlock)
    clear_masked_rows_kernel(const __grid_constant__ AttentionInputs<T> in,
                             const __grid_constant__ HeadMatrices<T> out, int64_t count) {
  constexpr int kRows = kBlock / kWarp;
  constexpr float kInfinity = __builtin_huge_valf();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int64_t i = int64_t{blockIdx.x} * kRows + threadIdx.x / kWarp; i < count;
       i += int64_t{gridDim.x} * kRows) {
    const int64_t head = i / out.rows, row = i % out.rows, n = head / in.heads;
    const bool is_plausible = in.logsumexp[i] > kLowestPlausible && in.logsumexp[i] < kInfinity;
    int visible = is_plausible ? 1 : 0;
    for (int64_t k = lane; !is_plausible && k < in.key.rows; k += kWarp)
      if (in.is_visible(row, k) && !(in.score(n, head % in.heads, row, k, 0) == -kInfinity))
        visible = 1;
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
      visible |= __shfl_xor_sync(~0u, visible, distance);
    if (visible) continue;
    const auto to = out.at(n, head % in.heads);
    for (int64_t c = lane; c < to.width; c += kWarp) to.at(row, c) = to_element<T>(0);
    if (lane == 0) in.logsumexp[i] = kInfinity;
  }
}

}  // namespace

void clear_masked_rows(const AttentionOperands& operands, Ctx& ctx) {
  const View& out = operands.out;
  const auto clear = [&](auto element) {
    using T = decltype(element);
    const int64_t rows = out.sizes[0] * out.sizes[1] * out.sizes[2];
    launch(clear_masked_rows_kernel<T>, grid_for(rows * kWarp, stream_of(ctx)), stream_of(ctx),
           AttentionInputs<T>(operands), HeadMatrices<T>(out), rows);
  };
  out.dtype == kHalf ? clear(Half{}) : clear(BFloat16{});
}

}  // namespace hearth::cuda
