#include "hearth/nn/embedding_bag.h"

#include "nn/embedding_table.h"

namespace hearth::nn {

namespace functional {

namespace {

struct Indices {
  Tensor input, offsets, per_sample_weights;
};

/// Returns one-dimensional indices with offsets; the rows of two-dimensional ones become bags.
Indices flattened(const Tensor& input, const EmbeddingBagFuncOptions& options) {
  const Tensor &offsets = options.offsets(), &weights = options.per_sample_weights();
  HEARTH_CHECK(!weights.defined() || input.sizes() == weights.sizes(),
               "embedding_bag: If per_sample_weights (", weights.sizes(),
               ") is not null, then it must have the same shape as the input (", input.sizes(),
               ")");
  if (input.dim() == 1) {
    HEARTH_CHECK(offsets.defined(), "offsets has to be a 1D Tensor but got null");
    HEARTH_CHECK(offsets.dim() == 1, "offsets has to be a 1D Tensor");
    return {input, offsets, weights};
  }
  HEARTH_CHECK(input.dim() == 2, "input has to be 1D or 2D Tensor, but got Tensor of dimension ",
               input.dim());
  HEARTH_CHECK(!offsets.defined(),
               "If input is 2D, then offsets has to be null, as input is treated is a mini-batch "
               "of fixed length sequences. However, found offsets of type Tensor");
  const auto type = TensorOptions(kLong).device(input.device());
  return {input.reshape(-1), arange(input.size(0), type).mul(input.size(1)),
          weights.defined() ? weights.reshape(-1) : weights};
}

/// The operator's number of a mode: the variant has the modes in that order.
int64_t mode_number(const EmbeddingBagMode& mode) { return int64_t(mode.index()); }

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options) {
  const Indices bags = flattened(input, options);
  const bool is_max = std::holds_alternative<enumtype::kMax>(options.mode());
  HEARTH_CHECK(!is_max || !options.scale_grad_by_freq(),
               "max mode does not support scaling the gradient by the frequency");
  HEARTH_CHECK(!is_max || !options.sparse(), "max mode does not support sparse weights");
  nn::detail::limit_norms(weight, bags.input, options);
  HEARTH_CHECK(
      !bags.per_sample_weights.defined() || std::holds_alternative<enumtype::kSum>(options.mode()),
      "embedding_bag: per_sample_weights was not null. per_sample_weights is only supported for "
      "mode='kSum' (got mode='",
      enumtype::get_enum_name(options.mode()), "').Please open a feature request on GitHub.");
  return std::get<0>(hearth::embedding_bag(
      weight, bags.input, bags.offsets, options.scale_grad_by_freq(), mode_number(options.mode()),
      options.sparse(), bags.per_sample_weights, options.include_last_offset() && input.dim() == 1,
      options.padding_idx()));
}

}  // namespace functional

namespace {
/// Returns `to` with those options of `from` that all embedding bags have.
template <class To, class From>
To with_bag_options(To to, const From& from) {
  return detail::with_common(to, from)
      .mode(from.mode())
      .include_last_offset(from.include_last_offset());
}
}  // namespace

EmbeddingBagImpl::EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
    : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions options_) : options(std::move(options_)) {
  EmbeddingBagImpl::reset();
}

void EmbeddingBagImpl::reset() { detail::reset_table(*this, "weight"); }

void EmbeddingBagImpl::reset_parameters() { detail::draw_table(*this); }

void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  stream << "EmbeddingBag(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  detail::print_common(stream, options);
  if (!std::holds_alternative<enumtype::kMean>(options.mode()))
    stream << ", mode=" << enumtype::get_enum_name(options.mode());
  if (options.include_last_offset()) stream << ", include_last_offset=true";
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  stream << ')';
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets,
                                 const Tensor& per_sample_weights) {
  return run_module(
      *this,
      [this](const Tensor& x, const Tensor& begins, const Tensor& factors) {
        return functional::embedding_bag(
            x, weight,
            with_bag_options(functional::EmbeddingBagFuncOptions(), options)
                .offsets(begins)
                .per_sample_weights(factors));
      },
      input, offsets, per_sample_weights);
}

HEARTH_DEFINE_DEFAULT_ARGS(EmbeddingBagImpl, {1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings,
                                           const EmbeddingBagFromPretrainedOptions& options) {
  HEARTH_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  const EmbeddingBagOptions own(embeddings.size(0), embeddings.size(1));
  EmbeddingBag bag(with_bag_options(own, options)._weight(embeddings));
  bag->weight.set_requires_grad(!options.freeze());
  return bag;
}

}  // namespace hearth::nn
