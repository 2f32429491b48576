#pragma once

// Shared by the forward and the backward pass of batch norm.

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/floating.h"
#include "kernels/cuda/moments.cuh"
#include "kernels/cuda/reduce_tiles.cuh"
#include "seam/batch_norm.h"

namespace hearth::cuda {

/// 1 / sqrt(var + eps) of a batch; as in PyTorch, 0 where that would divide by 0.
template <class C>
__device__ C inverse_deviation(C variance, C eps) {
  const C square = variance + eps;
  return square == 0 ? C(0) : 1 / sqrt(square);
}

/// One value per channel, of the input's dtype or float32; may be absent.
struct ChannelView {
  char* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  int64_t byte_stride = 0;

  ChannelView() = default;
  explicit ChannelView(const View& view) {
    if (!view.defined()) return;
    data = view.as<char>();
    dtype = view.dtype;
    byte_stride = view.strides[0] * static_cast<int64_t>(element_size(view.dtype));
  }
  template <class C>
  __device__ C load(int64_t channel, C absent) const {
    return data == nullptr ? absent : load_as<C>(data + channel * byte_stride, dtype);
  }
  template <class C>
  __device__ void store(int64_t channel, C value) const {
    if (data != nullptr) store_as<C>(data + channel * byte_stride, dtype, value);
  }
};

/// The loops of a reduction over all dimensions but the channels.
struct ChannelLoops {
  Loop kept, reduced;
};
inline ChannelLoops channel_loops(const Loop& whole) {
  bool keep[kMaxDims];
  for (int d = 0; d < whole.dim; ++d) keep[d] = d == 1;
  ChannelLoops loops{select_dims(whole, keep, false), select_dims(whole, keep, true)};
  loops.reduced.sort();  // `kept` is not sorted: output number k must be channel k
  return loops;
}

/// A loop over every element, with the channel's number as the last operand.
inline Loop elements_with_channel(Loop whole) {
  int64_t channel[kMaxDims] = {};
  channel[1] = 1;
  whole.add(channel, 1);
  whole.sort();
  return whole;
}

/// Allocates scratch memory for `count` values per channel.
template <class C>
C* channel_scratch(int64_t channels, int count, Ctx& ctx) {
  return static_cast<C*>(ctx.scratch(sizeof(C) * static_cast<size_t>(channels * count)));
}

}  // namespace hearth::cuda
