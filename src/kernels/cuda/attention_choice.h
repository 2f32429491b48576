#pragma once

// The decision whether cuDNN may compute attention.

#include <cstdint>

#include "seam/attention.h"

namespace hearth::cuda {

/// Gives dimensions that have one element the strides of a contiguous tensor. Dimensions over which
/// an expanded mask repeats its elements get one element.
inline View graph_layout(View view, bool is_mask) {
  for (int d = view.dim - 1; d >= 0; --d) {
    if (is_mask && view.strides[d] == 0) view.sizes[d] = 1;
    if (view.sizes[d] == 1)
      view.strides[d] = d + 1 < view.dim ? view.sizes[d + 1] * view.strides[d + 1] : 1;
  }
  return view;
}

inline constexpr int64_t kGraphAlignment = 16;  // bytes

inline bool is_aligned(const View& view) {
  return reinterpret_cast<uintptr_t>(view.data) % kGraphAlignment == 0;
}

/// Whether cuDNN reads and writes such a tensor: aligned rows without gaps between elements, no
/// repeated elements, widths up to 256.
inline bool has_graph_layout(const View& tensor) {
  constexpr int64_t kMaxWidth = 256;
  const View view = graph_layout(tensor, false);
  const int64_t multiple = kGraphAlignment / int64_t(element_size(view.dtype));
  if (!is_aligned(view) || view.sizes[3] % multiple != 0 || view.sizes[3] > kMaxWidth) return false;
  for (int d = 0; d < 3; ++d)
    if (view.strides[d] <= 0 || view.strides[d] % multiple != 0 || view.sizes[d] > INT32_MAX)
      return false;
  return view.strides[3] == 1;
}

/// Whether cuDNN may add such a mask, whose rows must be aligned. Masks of another dtype than the
/// operands' are not passed on: cuDNN 9.10 gave gradients of NaN for float32 masks.
inline bool has_mask_layout(const View& mask, ScalarType dtype) {
  if (!mask.defined()) return true;
  const View view = graph_layout(mask, true);
  const int64_t multiple = kGraphAlignment / int64_t(element_size(mask.dtype));
  for (int d = 0; d < 3; ++d)
    if (view.strides[d] <= 0 || view.strides[d] % multiple != 0) return false;
  return mask.dtype == dtype && is_aligned(mask) && mask.strides[3] == 1;
}

/// Whether cuDNN may compute the forward pass.
inline bool suits_cudnn(const AttentionOperands& operands) {
  const ScalarType dtype = operands.query.dtype;
  if ((dtype != kHalf && dtype != kBFloat16) || operands.kept.defined()) return false;
  for (const View* view : {&operands.query, &operands.key, &operands.value, &operands.out})
    if (!has_graph_layout(*view)) return false;
  return has_mask_layout(operands.mask, dtype);
}

/// Whether cuDNN of the given version (90100: 9.1.0) may compute the backward pass.
inline bool suits_cudnn(const AttentionBackwardParams& params, int64_t version,
                        bool deterministic) {
  constexpr int64_t kTile = 128;  // keys
  constexpr int64_t kLastVersionForWholeTiles = 91500;
  if (deterministic || !suits_cudnn(params.operands)) return false;
  // cuDNN up to 9.15.0 counts the keys that are missing in the last tile as keys with score 0;
  // later versions still do so under a mask, which gives NaN if a row's scores are low.
  const bool has_remainder = params.operands.key.sizes[2] % kTile != 0;
  if (has_remainder && (version <= kLastVersionForWholeTiles || params.operands.mask.defined()))
    return false;
  for (const View* view :
       {&params.grad_out, &params.grad_query, &params.grad_key, &params.grad_value})
    if (view->defined() && !has_graph_layout(*view)) return false;
  return true;
}

}  // namespace hearth::cuda
