// Creates the attention modules of tests/oracle/nn_cases.py.
#include "hearth/operators.h"
#include "tests/nn/cases.h"

namespace hearth::testing {

namespace {

using namespace hearth::nn;

const Tensor kAbsent;

MultiheadAttention plain_attention() { return MultiheadAttention(8, 2); }

Tensors self_attention(MultiheadAttention& m, const Tensors& in) {
  return flattened(m(in[0], in[0], in[0]));
}

TransformerEncoderLayer encoder_layer(double dropout) {
  return TransformerEncoderLayer(
      TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(dropout));
}

TransformerEncoderLayer norm_first_layer() {
  return TransformerEncoderLayer(TransformerEncoderLayerOptions(8, 2)
                                     .dim_feedforward(16)
                                     .dropout(0)
                                     .activation(kGELU)
                                     .layer_norm_eps(1e-3)
                                     .batch_first(true)
                                     .norm_first(true));
}

Table attention() {
  return {
      {"mha", called(plain_attention, self_attention)},
      {"mha_unbatched", called(plain_attention, self_attention)},
      {"mha_dropout", called(
                          +[] {
                            return MultiheadAttention(
                                MultiheadAttentionOptions(8, 4).dropout(0.3).bias(false));
                          },
                          [](MultiheadAttention& m, const Tensors& in) -> Tensors {
                            return {std::get<0>(m(in[0], in[0], in[0], kAbsent, false))};
                          })},
      {"mha_masks", called(plain_attention,
                           [](MultiheadAttention& m, const Tensors& in) {
                             return flattened(m(in[0], in[1], in[1], in[2], true, in[3], false));
                           })},
      {"mha_added_mask", called(plain_attention,
                                [](MultiheadAttention& m, const Tensors& in) -> Tensors {
                                  return {
                                      std::get<0>(m(in[0], in[1], in[1], kAbsent, false, in[2]))};
                                })},
      {"mha_dims",
       called(
           +[] {
             return MultiheadAttention(
                 MultiheadAttentionOptions(8, 2).kdim(6).vdim(4).add_bias_kv(true).add_zero_attn(
                     true));
           },
           [](MultiheadAttention& m, const Tensors& in) {
             return flattened(m(in[0], in[1], in[2], in[3]));
           })},
      {"mha_batch_first",
       called(
           +[] { return MultiheadAttention(MultiheadAttentionOptions(8, 2).batch_first(true)); },
           [](MultiheadAttention& m, const Tensors& in) {
             return flattened(m(in[0], in[1], in[1]));
           })},
  };
}

Table layers() {
  return {
      {"encoder_layer_dropout", called(
                                    +[] { return encoder_layer(0.1); },
                                    [](TransformerEncoderLayer& m, const Tensors& in) -> Tensors {
                                      return {m(in[0], kAbsent, in[1])};
                                    })},
      {"encoder_layer_norm_first", called(norm_first_layer,
                                          [](TransformerEncoderLayer& m, const Tensors& in)
                                              -> Tensors { return {m(in[0], in[1])}; })},
      {"decoder_layer_dropout", called(
                                    +[] {
                                      return TransformerDecoderLayer(
                                          TransformerDecoderLayerOptions(8, 2).dim_feedforward(16));
                                    },
                                    [](TransformerDecoderLayer& m, const Tensors& in) -> Tensors {
                                      return {m(in[0], in[1], kAbsent, kAbsent, kAbsent, in[2])};
                                    })},
      {"decoder_layer_norm_first",
       called(
           +[] {
             return TransformerDecoderLayer(
                 TransformerDecoderLayerOptions(8, 4).dim_feedforward(16).dropout(0).norm_first(
                     true));
           },
           [](TransformerDecoderLayer& m, const Tensors& in) -> Tensors {
             return {m(in[0], in[1])};
           })},
      {"encoder",
       called(
           +[] {
             return TransformerEncoder(TransformerEncoderOptions(encoder_layer(0), 2)
                                           .norm(AnyModule(LayerNorm(LayerNormOptions({8})))));
           },
           [](TransformerEncoder& m, const Tensors& in) -> Tensors { return {m(in[0])}; })},
      {"decoder",
       called(
           +[] {
             return TransformerDecoder(
                 TransformerDecoderOptions(
                     TransformerDecoderLayer(
                         TransformerDecoderLayerOptions(8, 2).dim_feedforward(16).dropout(0)),
                     2)
                     .norm(AnyModule(LayerNorm(LayerNormOptions({8})))));
           },
           [](TransformerDecoder& m, const Tensors& in) -> Tensors { return {m(in[0], in[1])}; })},
      {"transformer_dropout",
       called(
           +[] {
             Transformer module(TransformerOptions(8, 2, 1, 2).dim_feedforward(16));
             manual_seed(1234);  // Python draws other random numbers for the copied layers
             module->reset_parameters();
             for (const Tensor& parameter : module->parameters())
               if (parameter.dim() == 1) init::constant_(parameter, 0.25);
             return module;
           },
           [](Transformer& m, const Tensors& in) -> Tensors {
             return {m(in[0], in[1], kAbsent, kAbsent, kAbsent, in[2])};
           })},
  };
}

}  // namespace

Table attention_subjects() {
  auto table = attention();
  table.merge(layers());
  return table;
}

}  // namespace hearth::testing
