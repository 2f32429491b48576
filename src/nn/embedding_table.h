#pragma once

#include <ostream>

#include "hearth/autograd.h"
#include "hearth/nn/init.h"
#include "hearth/operators.h"

// The common code of Embedding and EmbeddingBag.
namespace hearth::nn::detail {

/// Returns the index of the padding row; a negative argument counts from the end.
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

/// Fills the table with random numbers, and the padding row with 0.
template <class M>
void draw_table(M& module) {
  init::normal_(module.weight);
  const NoGradGuard no_grad;
  if (const auto& padding = module.options.padding_idx()) module.weight.select(0, *padding).zero_();
}

/// Scales down the rows at `indices` whose norms exceed max_norm, if that is set.
template <class Options>
void limit_norms(Tensor weight, const Tensor& indices, const Options& options) {
  if (!options.max_norm()) return;
  const NoGradGuard no_grad;
  embedding_renorm_(weight, indices, *options.max_norm(), options.norm_type());
}

/// Returns `to` with these options of `from`.
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
