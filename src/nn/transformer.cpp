#include "hearth/nn/transformer.h"

#include <cmath>
#include <limits>

#include "hearth/nn/init.h"
#include "hearth/operators.h"

namespace hearth::nn {

namespace {

template <class Options>
MultiheadAttention attention_of(const Options& o) {
  return MultiheadAttention(MultiheadAttentionOptions(o.d_model(), o.nhead())
                                .dropout(o.dropout())
                                .batch_first(o.batch_first()));
}
template <class Options>
LayerNorm norm_of(const Options& o) {
  return LayerNorm(LayerNormOptions({o.d_model()}).eps(o.layer_norm_eps()));
}

/// Returns the output of attention, without its weights.
Tensor attend(MultiheadAttention& attention, const Tensor& query, const Tensor& memory,
              const Tensor& mask, const Tensor& padding) {
  return std::get<0>(attention(query, memory, memory, padding, /*need_weights=*/false, mask));
}

/// A residual block of a layer: x + block(x), normalised before the block or after the sum.
template <class Block>
Tensor residual(bool norm_first, LayerNorm& norm, const Tensor& x, const Block& block) {
  return norm_first ? x + block(norm(x)) : norm(x + block(x));
}

/// Registers the modules of a layer's feed-forward block, except its norm and its final dropout.
template <class Layer>
void add_feed_forward(Layer& layer) {
  const auto& o = layer.options;
  layer.linear1 = layer.register_module("linear1", Linear(o.d_model(), o.dim_feedforward()));
  layer.dropout = layer.register_module("dropout", Dropout(o.dropout()));
  layer.linear2 = layer.register_module("linear2", Linear(o.dim_feedforward(), o.d_model()));
}

template <class Layer>
Tensor feed_forward(Layer& layer, const Tensor& x) {
  return layer.linear2(layer.dropout(layer.options.activation()(layer.linear1(x))));
}

/// Registers the modules of a stack: copies of a layer, and the norm after them.
template <class Stack, class Layer>
void add_layers(Stack& stack, const Layer& layer) {
  const auto& o = stack.options;
  stack.layers = stack.register_module("layers", ModuleList());
  for (int64_t i = 0; i < o.num_layers(); ++i) stack.layers->push_back(layer->clone());
  if (o.norm().is_empty()) return;
  stack.norm = o.norm().clone();
  stack.register_module("norm", stack.norm.ptr());
}

template <class Layer, class Stack>
void reset_layers(Stack& stack) {
  for (size_t i = 0; i < stack.layers->size(); ++i)
    stack.layers->template at<Layer>(i).reset_parameters();
}

/// Returns the output of a stack; `others` are the layers' arguments after x.
template <class Layer, class Stack, class... Others>
Tensor run_layers(Stack& stack, Tensor x, const Others&... others) {
  for (size_t i = 0; i < stack.layers->size(); ++i)
    x = call_forward(stack.layers->template at<Layer>(i), x, others...);
  return stack.norm.is_empty() ? x : stack.norm.forward(x);
}

}  // namespace

activation_t::activation_t(enumtype::kReLU) : function_([](const Tensor& x) { return relu(x); }) {}
activation_t::activation_t(enumtype::kGELU) : function_([](const Tensor& x) { return gelu(x); }) {}

// ---- Options, whose constructors would cost compile time in the header

TransformerEncoderLayerOptions::TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead) {}
TransformerDecoderLayerOptions::TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead) {}
TransformerEncoderOptions::TransformerEncoderOptions(TransformerEncoderLayer encoder_layer,
                                                     int64_t num_layers)
    : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
TransformerEncoderOptions::TransformerEncoderOptions(
    const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers)
    : encoder_layer_(encoder_layer_options), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(TransformerDecoderLayer decoder_layer,
                                                     int64_t num_layers)
    : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(
    const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers)
    : decoder_layer_(decoder_layer_options), num_layers_(num_layers) {}
TransformerOptions::TransformerOptions() = default;
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead) {}
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                                       int64_t num_decoder_layers)
    : d_model_(d_model),
      nhead_(nhead),
      num_encoder_layers_(num_encoder_layers),
      num_decoder_layers_(num_decoder_layers) {}

// ---- TransformerEncoderLayer

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerEncoderLayerImpl::reset();
}
HEARTH_DEFINE_DEFAULT_ARGS(TransformerEncoderLayerImpl, {1, AnyValue(Tensor())},
                           {2, AnyValue(Tensor())})

void TransformerEncoderLayerImpl::reset() {
  const TransformerEncoderLayerOptions& o = options;
  self_attn = register_module("self_attn", attention_of(o));
  add_feed_forward(*this);
  norm1 = register_module("norm1", norm_of(o));
  norm2 = register_module("norm2", norm_of(o));
  dropout1 = register_module("dropout1", Dropout(o.dropout()));
  dropout2 = register_module("dropout2", Dropout(o.dropout()));
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  return run_module(
      *this,
      [this](const Tensor& x, const Tensor& mask, const Tensor& padding) {
        const bool norm_first = options.norm_first();
        const Tensor attended = residual(norm_first, norm1, x, [&](const Tensor& y) {
          return dropout1(attend(self_attn, y, y, mask, padding));
        });
        return residual(norm_first, norm2, attended,
                        [&](const Tensor& y) { return dropout2(feed_forward(*this, y)); });
      },
      src, src_mask, src_key_padding_mask);
}

// ---- TransformerDecoderLayer

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerDecoderLayerImpl::reset();
}
HEARTH_DEFINE_DEFAULT_ARGS(TransformerDecoderLayerImpl, {2, AnyValue(Tensor())},
                           {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                           {5, AnyValue(Tensor())})

void TransformerDecoderLayerImpl::reset() {
  const TransformerDecoderLayerOptions& o = options;
  self_attn = register_module("self_attn", attention_of(o));
  multihead_attn = register_module("multihead_attn", attention_of(o));
  add_feed_forward(*this);
  norm1 = register_module("norm1", norm_of(o));
  norm2 = register_module("norm2", norm_of(o));
  norm3 = register_module("norm3", norm_of(o));
  dropout1 = register_module("dropout1", Dropout(o.dropout()));
  dropout2 = register_module("dropout2", Dropout(o.dropout()));
  dropout3 = register_module("dropout3", Dropout(o.dropout()));
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
  norm3->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory,
                                            const Tensor& tgt_mask, const Tensor& memory_mask,
                                            const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  return run_module(
      *this,
      [this](const Tensor& x, const Tensor& encoded, const Tensor& x_mask,
             const Tensor& encoded_mask, const Tensor& x_padding, const Tensor& encoded_padding) {
        const bool norm_first = options.norm_first();
        const Tensor self_attended = residual(norm_first, norm1, x, [&](const Tensor& y) {
          return dropout1(attend(self_attn, y, y, x_mask, x_padding));
        });
        const Tensor cross_attended =
            residual(norm_first, norm2, self_attended, [&](const Tensor& y) {
              return dropout2(attend(multihead_attn, y, encoded, encoded_mask, encoded_padding));
            });
        return residual(norm_first, norm3, cross_attended,
                        [&](const Tensor& y) { return dropout3(feed_forward(*this, y)); });
      },
      tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

// ---- TransformerEncoder

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderLayer encoder_layer,
                                               int64_t num_layers)
    : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_)
    : options(std::move(options_)) {
  TransformerEncoderImpl::reset();
}
HEARTH_DEFINE_DEFAULT_ARGS(TransformerEncoderImpl, {1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})

void TransformerEncoderImpl::reset() { add_layers(*this, options.encoder_layer()); }

void TransformerEncoderImpl::reset_parameters() {
  reset_layers<TransformerEncoderLayerImpl>(*this);
}

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask,
                                       const Tensor& src_key_padding_mask) {
  return run_module(
      *this,
      [this](const Tensor& x, const Tensor& mask, const Tensor& padding) {
        return run_layers<TransformerEncoderLayerImpl>(*this, x, mask, padding);
      },
      src, src_mask, src_key_padding_mask);
}

// ---- TransformerDecoder

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderLayer decoder_layer,
                                               int64_t num_layers)
    : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_)
    : options(std::move(options_)) {
  TransformerDecoderImpl::reset();
}
HEARTH_DEFINE_DEFAULT_ARGS(TransformerDecoderImpl, {2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                           {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})

void TransformerDecoderImpl::reset() { add_layers(*this, options.decoder_layer()); }

void TransformerDecoderImpl::reset_parameters() {
  reset_layers<TransformerDecoderLayerImpl>(*this);
}

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory,
                                       const Tensor& tgt_mask, const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  return run_module(
      *this,
      [this](const Tensor& x, const auto&... others) {
        return run_layers<TransformerDecoderLayerImpl>(*this, x, others...);
      },
      tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

// ---- Transformer

namespace {

/// Returns the options of an encoder's or a decoder's layers.
template <class LayerOptions>
LayerOptions layer_options(const TransformerOptions& o) {
  return LayerOptions(o.d_model(), o.nhead())
      .dim_feedforward(o.dim_feedforward())
      .dropout(o.dropout())
      .activation(o.activation())
      .layer_norm_eps(o.layer_norm_eps())
      .batch_first(o.batch_first())
      .norm_first(o.norm_first());
}

}  // namespace

TransformerImpl::TransformerImpl(TransformerOptions options_) : options(std::move(options_)) {
  TransformerImpl::reset();
}
HEARTH_DEFINE_DEFAULT_ARGS(TransformerImpl, {2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                           {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())},
                           {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})

void TransformerImpl::reset() {
  if (options.custom_encoder().is_empty())
    encoder = AnyModule(TransformerEncoder(
        TransformerEncoderOptions(layer_options<TransformerEncoderLayerOptions>(options),
                                  options.num_encoder_layers())
            .norm(AnyModule(norm_of(options)))));
  else
    encoder = options.custom_encoder().clone();
  register_module("encoder", encoder.ptr());
  if (options.custom_decoder().is_empty())
    decoder = AnyModule(TransformerDecoder(
        TransformerDecoderOptions(layer_options<TransformerDecoderLayerOptions>(options),
                                  options.num_decoder_layers())
            .norm(AnyModule(norm_of(options)))));
  else
    decoder = options.custom_decoder().clone();
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (Tensor& parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  HEARTH_CHECK(sz >= 0,
               "Input size must be non-negative to generate a valid square subsequent mask, "
               "but got ",
               sz);
  return full({sz, sz}, -std::numeric_limits<double>::infinity(), kFloat).triu(1);
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask,
                                const Tensor& tgt_mask, const Tensor& memory_mask,
                                const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask,
                                const Tensor& memory_key_padding_mask) {
  return run_module(
      *this,
      [this](const Tensor& from, const Tensor& to, const Tensor& from_mask, const Tensor& to_mask,
             const Tensor& cross_mask, const Tensor& from_padding, const Tensor& to_padding,
             const Tensor& cross_padding) {
        HEARTH_CHECK(from.dim() == to.dim() && (from.dim() == 2 || from.dim() == 3),
                     "src and tgt should have 3 dimensions, but got ", from.dim(), " and ",
                     to.dim());
        const int64_t batch = options.batch_first() ? 0 : 1;
        HEARTH_CHECK(from.dim() == 2 || from.size(batch) == to.size(batch),
                     "src and tgt should have equal batch size (at dim ", batch, "), but got ",
                     from.size(batch), " and ", to.size(batch));
        HEARTH_CHECK(from.size(-1) == options.d_model() && to.size(-1) == options.d_model(),
                     "src and tgt should have same feature size as d_model (at dim ",
                     from.dim() - 1, "), but got ", from.size(-1), " and ", to.size(-1),
                     " while d_model is ", options.d_model());
        const Tensor memory = encoder.forward(from, from_mask, from_padding);
        return decoder.forward(to, memory, to_mask, cross_mask, to_padding, cross_padding);
      },
      src, tgt, src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask,
      memory_key_padding_mask);
}

// ---- PositionalEncoding

PositionalEncodingImpl::PositionalEncodingImpl(const PositionalEncodingOptions& options_)
    : options(options_) {
  PositionalEncodingImpl::reset();
}

void PositionalEncodingImpl::reset() {
  const int64_t width = options.d_model(), length = options.max_len();
  HEARTH_CHECK(width > 0 && length > 0,
               "PositionalEncoding: d_model and max_len must be greater "
               "than 0, got ",
               width, " and ", length);
  dropout = register_module("dropout", Dropout(options.dropout()));
  const Tensor position = arange(length).to(kFloat).unsqueeze(1);
  const Tensor frequency =
      exp(arange(0, width, 2).to(kFloat) * (-std::log(10000.0) / double(width)));
  const Tensor angle = position * frequency;
  // An odd width has one sine more than cosines.
  const Tensor pairs = stack({angle.sin(), angle.cos()}, 2).flatten(1);
  pe = register_buffer("pe", pairs.narrow(1, 0, width).unsqueeze(1).contiguous());
}

Tensor PositionalEncodingImpl::forward(const Tensor& input) {
  return run_module(
      *this,
      [this](const Tensor& x) {
        HEARTH_CHECK(x.dim() == 3, "PositionalEncoding: expected input of 3 dimensions, but got ",
                     x.dim());
        const int64_t length = x.size(options.batch_first() ? 1 : 0);
        HEARTH_CHECK(length <= options.max_len(), "PositionalEncoding: the sequence has ", length,
                     " elements, more than max_len = ", options.max_len());
        const Tensor positions = pe.narrow(0, 0, length);
        return dropout(x + (options.batch_first() ? positions.transpose(0, 1) : positions));
      },
      input);
}

}  // namespace hearth::nn
