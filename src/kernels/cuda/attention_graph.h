#pragma once

#include "kernels/cuda/cudnn_graph.h"

namespace hearth::cuda {

/// The sizes and strides of a tensor in memory.
struct AttentionLayout {
  GraphDims sizes{}, strides{};
  auto operator<=>(const AttentionLayout&) const = default;
};

/// All values that a graph of attention depends on. The tensors have one dtype, except the mask.
struct AttentionGraphShape {
  cudnnDataType_t dtype = CUDNN_DATA_HALF;
  bool causal = false, has_mask = false;
  cudnnDataType_t mask_dtype = CUDNN_DATA_HALF;
  AttentionLayout query, key, value, mask, out;                // [batch, heads, rows, width]
  AttentionLayout grad_out, grad_query, grad_key, grad_value;  // unused in the forward graph
  auto operator<=>(const AttentionGraphShape&) const = default;
};

/// The ids of the tensors in memory. The logarithms of sums, the products of rows and the sum
/// of the query's gradient are contiguous floats; scale, one and lowest are floats of the host.
enum AttentionTensor : int64_t {
  kQueryTensor = 1,
  kKeyTensor,
  kValueTensor,
  kMaskTensor,
  kOutTensor,
  kLogSumExpTensor,
  kScaleNumber,
  kLowestNumber,
  kOneNumber,
  kGradOutTensor,
  kGradQueryTensor,
  kGradKeyTensor,
  kGradValueTensor,
  kRowProductsTensor,   // [batch, heads, rows, 1]
  kGradQuerySumTensor,  // as the query
};

/// The graph of out and the logarithms of sums.
CudnnGraph attention_graph(const AttentionGraphShape& shape);
/// The graph of the gradients of query, key and value.
CudnnGraph attention_backward_graph(const AttentionGraphShape& shape);

}  // namespace hearth::cuda
