#pragma once

#include <ostream>

#include "hearth/autograd.h"
#include "hearth/nn/init.h"
#include "hearth/operators.h"

// What Embedding and EmbeddingBag share.
namespace hearth::nn::detail {

/// Counts the padding row from 0.
inline int64_t padding_row(int64_t index, int64_t rows) {
  HEARTH_CHECK(index >= -rows && index < rows, "Padding_idx must be within num_embeddings");
  return index < 0 ? index + rows : index;
}

/// Registers the table: the given one, which errors call `given_name`, or a random one.
template <class M>
void reset_table(M& module, const char* given_name) {
  auto& o = module.options;
  const std::vector<int64_t> sizes{o.num_embeddings(), o.embedding_dim()};
  if (o.padding_idx()) o.padding_idx(padding_row(*o.padding_idx(), sizes[0]));
  const Tensor& given = o._weight();
  if (!given.defined()) {
    module.weight = module.register_parameter("weight", hearth::empty(sizes));
    return module.reset_parameters();
  }
  HEARTH_CHECK(given.sizes() == sizes, "Shape of ", given_name,
               " does not match num_embeddings and embedding_dim");
  module.weight = module.register_parameter("weight", given.detach());
}

/// Draws the table; the padding row is 0.
template <class M>
void draw_table(M& module) {
  init::normal_(module.weight);
  const NoGradGuard off;
  if (const auto& padding = module.options.padding_idx()) module.weight.select(0, *padding).zero_();
}

/// Scales down the rows used, if the options limit their norms.
template <class Options>
void limit_norms(Tensor weight, const Tensor& indices, const Options& options) {
  if (!options.max_norm()) return;
  const NoGradGuard off;
  embedding_renorm_(weight, indices, *options.max_norm(), options.norm_type());
}

/// `to` with the options that all options of embeddings have.
template <class To, class From>
To with_common(To to, const From& from) {
  return to.padding_idx(from.padding_idx())
      .max_norm(from.max_norm())
      .norm_type(from.norm_type())
      .scale_grad_by_freq(from.scale_grad_by_freq())
      .sparse(from.sparse());
}

/// Prints the options from max_norm to sparse that are not the defaults.
template <class Options>
void print_common(std::ostream& stream, const Options& o) {
  if (o.max_norm()) stream << ", max_norm=" << *o.max_norm();
  if (o.norm_type() != 2) stream << ", norm_type=" << o.norm_type();
  if (o.scale_grad_by_freq()) stream << ", scale_grad_by_freq=true";
  if (o.sparse()) stream << ", sparse=true";
}

}  // namespace hearth::nn::detail
