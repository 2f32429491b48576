#include "hearth/nn/embedding.h"

#include <ostream>

#include "hearth/autograd.h"
#include "hearth/nn/init.h"
#include "hearth/operators.h"

namespace hearth::nn {

using hearth::detail::str;

namespace {

/// The padding row, counted from 0; -1 without one.
int64_t resolved_padding(std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx) return -1;
  HEARTH_CHECK(*padding_idx >= -rows && *padding_idx < rows,
               "Padding_idx must be within num_embeddings");
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

}  // namespace

namespace functional {

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  const int64_t padding = resolved_padding(options.padding_idx(), weight.size(0));
  if (options.max_norm()) {
    const NoGradGuard off;
    Tensor table = weight;
    embedding_renorm_(table, input, *options.max_norm(), options.norm_type());
  }
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

void EmbeddingImpl::reset() {
  if (options.padding_idx())
    options.padding_idx(resolved_padding(options.padding_idx(), options.num_embeddings()));
  const Tensor& given = options._weight();
  if (!given.defined()) {
    weight =
        register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
    reset_parameters();
    return;
  }
  HEARTH_CHECK(
      given.sizes() == std::vector<int64_t>({options.num_embeddings(), options.embedding_dim()}),
      "Shape of _weight does not match num_embeddings and embedding_dim");
  weight = register_parameter("weight", given.detach());
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  const NoGradGuard no_grad;
  if (options.padding_idx()) weight.select(0, *options.padding_idx()).zero_();
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "Embedding(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=true";
  if (options.sparse()) stream << ", sparse=true";
  stream << ')';
}

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return run_module(*this, &EmbeddingImpl::look_up, indices);
}

Tensor EmbeddingImpl::look_up(const Tensor& indices) {
  return functional::embedding(indices, weight,
                               functional::EmbeddingFuncOptions()
                                   .padding_idx(options.padding_idx())
                                   .max_norm(options.max_norm())
                                   .norm_type(options.norm_type())
                                   .scale_grad_by_freq(options.scale_grad_by_freq())
                                   .sparse(options.sparse()));
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& options) {
  HEARTH_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  Embedding embedding(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                          ._weight(embeddings)
                          .padding_idx(options.padding_idx())
                          .max_norm(options.max_norm())
                          .norm_type(options.norm_type())
                          .scale_grad_by_freq(options.scale_grad_by_freq())
                          .sparse(options.sparse()));
  embedding->weight.set_requires_grad(!options.freeze());
  return embedding;
}

}  // namespace hearth::nn
