// Copies the inputs of cat side by side into the output. If they have 32,768 elements or more on
// average, all threads copy one input after the other; else the threads divide the inputs. Bound by
// memory: each element is read once and written once.
#include "seam/cat.h"

#include <algorithm>

#include "core/parallel_for.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

/// Copies inputs [begin, end) into out, the first of them at index `start` along dim.
void copy_inputs(const CatParams& params, size_t begin, size_t end, int64_t start, Ctx& ctx) {
  const int64_t stride = params.out.strides[params.dim];
  const auto element_bytes = static_cast<int64_t>(element_size(params.out.dtype));
  for (size_t i = begin; i < end; ++i) {
    const View& in = params.in[i];
    View target = in;
    target.data = params.out.as<char>() + start * stride * element_bytes;
    std::copy_n(params.out.strides, in.dim, target.strides);
    copy(in, target, ctx);
    start += in.sizes[params.dim];
  }
}

}  // namespace

void run(const CatParams& params, Ctx& ctx) {
  const auto inputs = static_cast<int64_t>(params.in.size());
  const bool many_small = inputs > 0 && params.out.numel / inputs < kMoveGrain;
  if (!many_small) return copy_inputs(params, 0, params.in.size(), 0, ctx);
  const int64_t grain =
      std::max<int64_t>(1, kMoveGrain * inputs / std::max<int64_t>(1, params.out.numel));
  parallel_for(0, inputs, grain, [&](int64_t begin, int64_t end) {
    int64_t start = 0;
    for (int64_t i = 0; i < begin; ++i) start += params.in[size_t(i)].sizes[params.dim];
    copy_inputs(params, size_t(begin), size_t(end), start, ctx);
  });
}

}  // namespace hearth::cpu
