// The graphs of attention and its gradients, which cudnn_graph.cpp compiles and runs. cuDNN
// recognises fused attention by the pattern of its operations, so these must not be simplified: a
// product by one in the backward graph, for example, is part of the pattern.
#include "kernels/cuda/attention_graph.h"

namespace hearth::cuda {

namespace {

GraphDims transposed(GraphDims dims) {
  std::swap(dims[2], dims[3]);
  return dims;
}

/// Builds the graph of one direction; the two directions share some steps.
class AttentionGraph {
 public:
  explicit AttentionGraph(const AttentionGraphShape& shape)
      : shape_(shape),
        scores_{shape.query.sizes[0], shape.query.sizes[1], shape.query.sizes[2],
                shape.key.sizes[2]},
        rows_{scores_[0], scores_[1], scores_[2], 1} {}

  CudnnGraph forward() {
    const GraphTensor scores =
        hide_later_keys(forward_scores(in_memory(kQueryTensor, shape_.query)));
    const GraphTensor weights = softmax(scores);
    graph_.matmul(weights, in_memory(kValueTensor, shape_.value),
                  in_memory(kOutTensor, shape_.out));
    return std::move(graph_);
  }

  CudnnGraph backward() {
    const GraphTensor query = in_memory(kQueryTensor, shape_.query),
                      grad_out = in_memory(kGradOutTensor, shape_.grad_out);
    const GraphTensor products = row_products(grad_out);
    scale_ = graph_.number(kScaleNumber);
    const GraphTensor transposed_key = transposed_in_memory(kKeyTensor, shape_.key);
    const GraphTensor weights = backward_weights(query, transposed_key);
    multiply_into(transposed_scores(weights), grad_out, kGradValueTensor, shape_.grad_value);

    const GraphTensor grads = graph_.intermediate(scores_);
    graph_.matmul(grad_out, transposed_in_memory(kValueTensor, shape_.value), grads);
    const GraphTensor centred = pointwise(CUDNN_POINTWISE_SUB, grads, products);
    const GraphTensor grad_scores =
        pointwise(CUDNN_POINTWISE_MUL, pointwise(CUDNN_POINTWISE_MUL, centred, weights), scale_);
    multiply_into(transposed_scores(grad_scores), query, kGradKeyTensor, shape_.grad_key);
    grad_query(grad_scores, transposed_key);
    return std::move(graph_);
  }

 private:
  GraphTensor in_memory(AttentionTensor id, const AttentionLayout& layout) {
    return graph_.in_memory(id, layout.sizes, layout.strides, shape_.dtype);
  }
  GraphTensor transposed_in_memory(AttentionTensor id, const AttentionLayout& layout) {
    return graph_.in_memory(id, transposed(layout.sizes), transposed(layout.strides), shape_.dtype);
  }
  GraphTensor float_rows(AttentionTensor id) {
    return graph_.in_memory(id, rows_, contiguous_strides(rows_), CUDNN_DATA_FLOAT);
  }
  /// An operation whose result has the sizes of its first operand.
  GraphTensor pointwise(cudnnPointwiseMode_t mode, const GraphTensor& a, const GraphTensor& b) {
    const GraphTensor y = graph_.intermediate(a.sizes);
    graph_.pointwise(mode, a, b, y);
    return y;
  }
  GraphTensor pointwise(cudnnPointwiseMode_t mode, const GraphTensor& x) {
    const GraphTensor y = graph_.intermediate(x.sizes);
    graph_.pointwise(mode, x, y);
    return y;
  }

  /// scale * query @ key^T, plus the mask.
  GraphTensor scaled_scores(const GraphTensor& query, const GraphTensor& transposed_key) {
    const GraphTensor products = graph_.intermediate(scores_);
    graph_.matmul(query, transposed_key, products);
    const GraphTensor scaled = pointwise(CUDNN_POINTWISE_MUL, products, scale_);
    if (!shape_.has_mask) return scaled;
    return pointwise(
        CUDNN_POINTWISE_ADD, scaled,
        graph_.in_memory(kMaskTensor, shape_.mask.sizes, shape_.mask.strides, shape_.mask_dtype));
  }
  GraphTensor forward_scores(const GraphTensor& query) {
    const GraphTensor transposed_key = transposed_in_memory(kKeyTensor, shape_.key);
    scale_ = graph_.number(kScaleNumber);
    return scaled_scores(query, transposed_key);
  }
  /// If causal, replaces the scores of keys after a row's own position by the lowest float.
  GraphTensor hide_later_keys(const GraphTensor& scores) {
    if (!shape_.causal) return scores;
    const GraphTensor row = graph_.positions(scores, 2), column = graph_.positions(scores, 3);
    const GraphTensor is_visible = graph_.intermediate(scores_, CUDNN_DATA_BOOLEAN);
    graph_.pointwise(CUDNN_POINTWISE_CMP_GE, row, column, is_visible, CUDNN_DATA_BOOLEAN);
    const GraphTensor result = graph_.intermediate(scores_);
    graph_.select(is_visible, scores, graph_.number(kLowestNumber), result);
    return result;
  }

  GraphTensor softmax(const GraphTensor& scores) {
    const GraphTensor largest = graph_.intermediate(rows_), sum = graph_.intermediate(rows_);
    graph_.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, largest);
    const GraphTensor exponentials =
        pointwise(CUDNN_POINTWISE_EXP, pointwise(CUDNN_POINTWISE_SUB, scores, largest));
    graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, exponentials, sum);
    graph_.pointwise(CUDNN_POINTWISE_ADD, largest, pointwise(CUDNN_POINTWISE_LOG, sum),
                     float_rows(kLogSumExpTensor));
    const GraphTensor weights = graph_.intermediate(scores_, shape_.dtype);
    graph_.pointwise(CUDNN_POINTWISE_DIV, exponentials, sum, weights);
    return weights;
  }

  /// The dot products of the rows of out and its gradient.
  GraphTensor row_products(const GraphTensor& grad_out) {
    const GraphTensor products =
        pointwise(CUDNN_POINTWISE_MUL, grad_out, in_memory(kOutTensor, shape_.out));
    const GraphTensor sums = graph_.intermediate(rows_), result = float_rows(kRowProductsTensor);
    graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, products, sums);
    graph_.pointwise(CUDNN_POINTWISE_MUL, sums, graph_.number(kOneNumber), result);
    return result;
  }
  GraphTensor backward_weights(const GraphTensor& query, const GraphTensor& transposed_key) {
    const GraphTensor scores = pointwise(CUDNN_POINTWISE_SUB, scaled_scores(query, transposed_key),
                                         float_rows(kLogSumExpTensor));
    return pointwise(CUDNN_POINTWISE_EXP, hide_later_keys(scores));
  }
  GraphTensor transposed_scores(const GraphTensor& x) {
    const GraphTensor result = graph_.intermediate(
        transposed(scores_), transposed(contiguous_strides(scores_)), shape_.dtype);
    graph_.reshape(x, result);
    return result;
  }
  /// The gradient of key or value: a @ b, summed over the query heads that share a key head.
  void multiply_into(const GraphTensor& a, const GraphTensor& b, AttentionTensor id,
                     const AttentionLayout& layout) {
    const GraphTensor result = in_memory(id, layout);
    if (layout.sizes[1] == scores_[1]) return graph_.matmul(a, b, result);
    const GraphTensor of_all_heads = graph_.intermediate(
        {scores_[0], scores_[1], layout.sizes[2], layout.sizes[3]}, shape_.dtype);
    graph_.matmul(a, b, of_all_heads);
    graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, of_all_heads, result);
  }
  void grad_query(const GraphTensor& grad_scores, const GraphTensor& transposed_key) {
    const GraphTensor key = graph_.intermediate(shape_.key.sizes, shape_.key.strides, shape_.dtype);
    graph_.reshape(transposed_key, key);
    const GraphTensor sum =
        graph_.in_memory(kGradQuerySumTensor, shape_.query.sizes,
                         contiguous_strides(shape_.query.sizes), CUDNN_DATA_FLOAT);
    graph_.matmul(grad_scores, key, sum);
    graph_.pointwise(CUDNN_POINTWISE_IDENTITY, sum, in_memory(kGradQueryTensor, shape_.grad_query));
  }

  const AttentionGraphShape& shape_;
  const GraphDims scores_, rows_;  // the sizes of the scores, and of one number for each row
  CudnnGraph graph_;
  GraphTensor scale_{};
};

}  // namespace

CudnnGraph attention_graph(const AttentionGraphShape& shape) {
  return AttentionGraph(shape).forward();
}

CudnnGraph attention_backward_graph(const AttentionGraphShape& shape) {
  return AttentionGraph(shape).backward();
}

}  // namespace hearth::cuda
