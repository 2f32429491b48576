#include "hearth/nn/embedding.h"

#include "nn/embedding_table.h"

namespace hearth::nn {

namespace functional {

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  const std::optional<int64_t>& index = options.padding_idx();
  const int64_t padding = index ? nn::detail::padding_row(*index, weight.size(0)) : -1;
  nn::detail::limit_norms(weight, input, options);
  return hearth::embedding(weight, input, padding, options.scale_grad_by_freq(), options.sparse());
}

Tensor one_hot(const Tensor& tensor, int64_t num_classes) {
  return hearth::one_hot(tensor, num_classes);
}

}  // namespace functional

EmbeddingImpl::EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
    : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options_) : options(std::move(options_)) {
  EmbeddingImpl::reset();
}

void EmbeddingImpl::reset() { detail::reset_table(*this, "_weight"); }

void EmbeddingImpl::reset_parameters() { detail::draw_table(*this); }

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "Embedding(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  detail::print_common(stream, options);
  stream << ')';
}

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return run_module(*this, &EmbeddingImpl::look_up, indices);
}

Tensor EmbeddingImpl::look_up(const Tensor& indices) {
  return functional::embedding(indices, weight,
                               detail::with_common(functional::EmbeddingFuncOptions(), options));
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& options) {
  HEARTH_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  const EmbeddingOptions own(embeddings.size(0), embeddings.size(1));
  Embedding embedding(detail::with_common(own, options)._weight(embeddings));
  embedding->weight.set_requires_grad(!options.freeze());
  return embedding;
}

}  // namespace hearth::nn
