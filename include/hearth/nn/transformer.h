#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "hearth/nn/attention.h"
#include "hearth/nn/dropout.h"
#include "hearth/nn/enum.h"
#include "hearth/nn/module_list.h"
#include "hearth/nn/normalization.h"

namespace hearth::nn {

/// kReLU, kGELU or a function of a tensor. (In LibTorch a std::variant, which takes longer to
/// compile than the whole header.)
class HEARTH_API activation_t {
 public:
  using Function = std::function<Tensor(const Tensor&)>;  ///< a function of one tensor

  activation_t(enumtype::kReLU);
  activation_t(enumtype::kGELU);
  template <class F, std::enable_if_t<std::is_invocable_r_v<Tensor, F&, const Tensor&>, int> = 0>
  activation_t(F function) : function_(std::move(function)) {}
  Tensor operator()(const Tensor& x) const { return function_(x); }

 private:
  Function function_;
};

/// The options that both kinds of layers and Transformer share.
#define HEARTH_TRANSFORMER_LAYER_OPTIONS                                                           \
  HEARTH_ARG(int64_t, dim_feedforward) = 2048;  /**< features between the two linear layers */     \
  HEARTH_ARG(double, dropout) = 0.1;            /**< probability of every dropout */               \
  HEARTH_ARG(activation_t, activation) = kReLU; /**< between the two linear layers */              \
  HEARTH_ARG(double, layer_norm_eps) = 1e-5;    /**< of the norms */                               \
  HEARTH_ARG(bool, batch_first) = false;        /**< tensors are [N, L, E] instead of [L, N, E] */ \
  HEARTH_ARG(bool, norm_first) = false /**< norms before attention and feedforward, not after */

/// Options of TransformerEncoderLayer.
struct HEARTH_API TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead);
  HEARTH_ARG(int64_t, d_model);  ///< features of the input
  HEARTH_ARG(int64_t, nhead);    ///< heads of attention
  HEARTH_TRANSFORMER_LAYER_OPTIONS;
};
/// Options of TransformerDecoderLayer.
struct HEARTH_API TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead);
  HEARTH_ARG(int64_t, d_model);  ///< features of the input
  HEARTH_ARG(int64_t, nhead);    ///< heads of attention
  HEARTH_TRANSFORMER_LAYER_OPTIONS;
};

/// Self-attention and two linear layers, each added to its input and normalised. Masks are those of
/// MultiheadAttention.
class HEARTH_API TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_);
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});
  void reset() override;
  void reset_parameters();  ///< draws new initial values except out_proj's weights

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr, norm2 = nullptr;
  Dropout dropout1 = nullptr, dropout2 = nullptr;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS
};
HEARTH_MODULE(TransformerEncoderLayer);

/// Self-attention, attention over the encoder's output and two linear layers.
class HEARTH_API TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_);
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  void reset() override;
  void reset_parameters();  ///< draws new initial values except out_proj's weights

  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn{nullptr};
  Dropout dropout1{nullptr};
  LayerNorm norm1{nullptr};
  MultiheadAttention multihead_attn{nullptr};
  Dropout dropout2{nullptr};
  LayerNorm norm2{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  Dropout dropout3{nullptr};
  LayerNorm norm3{nullptr};

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS
};
HEARTH_MODULE(TransformerDecoderLayer);

/// Options of TransformerEncoder.
struct HEARTH_API TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                            int64_t num_layers);
  HEARTH_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;  ///< copied for each layer
  HEARTH_ARG(int64_t, num_layers);                               ///< number of layers
  HEARTH_ARG(AnyModule, norm);                                   ///< after the last layer, or empty
};
/// Options of TransformerDecoder.
struct HEARTH_API TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                            int64_t num_layers);
  HEARTH_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;  ///< copied for each layer
  HEARTH_ARG(int64_t, num_layers);                               ///< number of layers
  HEARTH_ARG(AnyModule, norm);                                   ///< after the last layer, or empty
};

/// Several encoder layers, one after another.
class HEARTH_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_);
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});
  void reset() override;
  void reset_parameters();  ///< calls reset_parameters() of the layers

  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS
};
HEARTH_MODULE(TransformerEncoder);

/// Several decoder layers, one after another.
class HEARTH_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_);
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  void reset() override;
  void reset_parameters();  ///< calls reset_parameters() of the layers

  TransformerDecoderOptions options;
  ModuleList layers{nullptr};
  AnyModule norm;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS
};
HEARTH_MODULE(TransformerDecoder);

/// Options of Transformer.
struct HEARTH_API TransformerOptions {
  TransformerOptions();
  TransformerOptions(int64_t d_model, int64_t nhead);
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                     int64_t num_decoder_layers);
  HEARTH_ARG(int64_t, d_model) = 512;           ///< features of the inputs
  HEARTH_ARG(int64_t, nhead) = 8;               ///< heads of attention
  HEARTH_ARG(int64_t, num_encoder_layers) = 6;  ///< layers of the encoder
  HEARTH_ARG(int64_t, num_decoder_layers) = 6;  ///< layers of the decoder
  HEARTH_TRANSFORMER_LAYER_OPTIONS;
  HEARTH_ARG(AnyModule, custom_encoder);  ///< replaces the encoder
  HEARTH_ARG(AnyModule, custom_decoder);  ///< replaces the decoder
};
#undef HEARTH_TRANSFORMER_LAYER_OPTIONS

/// An encoder and a decoder ("Attention Is All You Need").
class HEARTH_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options_ = {});
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {},
                 const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  void reset() override;
  void reset_parameters();  ///< draws all matrices from init::xavier_uniform_
  /// -infinity above the diagonal, else 0: [sz, sz].
  static Tensor generate_square_subsequent_mask(int64_t sz);

  TransformerOptions options;
  AnyModule encoder;
  AnyModule decoder;

 protected:
  HEARTH_DECLARE_DEFAULT_ARGS
};
HEARTH_MODULE(Transformer);

/// Options of PositionalEncoding.
struct HEARTH_API PositionalEncodingOptions {
  PositionalEncodingOptions(int64_t d_model) : d_model_(d_model) {}
  HEARTH_ARG(int64_t, d_model);           ///< features of the input
  HEARTH_ARG(double, dropout) = 0.1;      ///< probability of dropout of the sum
  HEARTH_ARG(int64_t, max_len) = 5000;    ///< the longest sequence
  HEARTH_ARG(bool, batch_first) = false;  ///< the input is [N, L, E] instead of [L, N, E]
};
/// Adds sines (even features) and cosines (odd features) of the position to the input, with
/// wavelengths from 2 * pi to 20000 * pi, as in PyTorch's tutorials.
class HEARTH_API PositionalEncodingImpl : public Cloneable<PositionalEncodingImpl> {
 public:
  explicit PositionalEncodingImpl(const PositionalEncodingOptions& options_);
  Tensor forward(const Tensor& input);
  void reset() override;

  PositionalEncodingOptions options;
  Dropout dropout{nullptr};
  Tensor pe;  ///< [max_len, 1, d_model], a buffer
};
HEARTH_MODULE(PositionalEncoding);

}  // namespace hearth::nn
