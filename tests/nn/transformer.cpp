// Attention modules: bad input, masks, positions.
#include <cmath>

#include "hearth/autograd.h"
#include "hearth/generator.h"
#include "hearth/nn.h"
#include "hearth/operators.h"
#include "hearth/utils/checkpoint.h"
#include "tests/nn/support.h"

namespace hearth::testing {
namespace {

using namespace hearth::nn;

TEST(MultiheadAttention, ExplainsBadInput) {
  MultiheadAttention module(8, 2);
  const Tensor x = ones({3, 4, 8});
  EXPECT_ERROR(MultiheadAttention(8, 3), "embed_dim must be divisible by num_heads");
  EXPECT_ERROR(MultiheadAttention(8, 0), "num_heads must be greater than 0");
  EXPECT_ERROR(module(ones({3, 4, 6}), x, x), "was expecting embedding dimension of 8, but got 6");
  EXPECT_ERROR(module(x, x, ones({5, 4, 8})),
               "key shape [3, 4, 8] does not match value shape [5, 4, 8]");
  EXPECT_ERROR(module(x, x, x, ones({3, 3}, kBool)),
               "Expected key_padding_mask of shape [4, 3], but got [3, 3]");
  EXPECT_ERROR(module(x, x, x, Tensor(), true, ones({2, 3})),
               "The shape of the 2D attn_mask is [2, 3], but should be [3, 3].");
  EXPECT_ERROR(module(x, x, x, Tensor(), true, ones({4, 3, 3})),
               "The shape of the 3D attn_mask is [4, 3, 3], but should be [8, 3, 3].");
  EXPECT_ERROR(module(x, x, x, Tensor(), true, ones({3, 3}, kInt)),
               "only bool and floating types of attn_mask are supported");
  EXPECT_ERROR(module(ones({4}), x, x), "but received 1-D query tensor");
}

TEST(MultiheadAttention, ChecksAppendedAndGivenKeys) {
  using functional::multi_head_attention_forward;
  const Tensor x = ones({3, 4, 8}), weight = ones({24, 8}), out = ones({8, 8}), k = ones({1, 1, 8});
  const functional::MultiheadAttentionForwardFuncOptions options(8, 2, weight, Tensor(), Tensor(),
                                                                 Tensor(), false, 0, out, Tensor());
  auto lone = options, given = options;
  EXPECT_ERROR(multi_head_attention_forward(x, x, x, lone.bias_k(k)),
               "bias_k and bias_v must both be defined");
  given.static_k(ones({2, 5, 4})).static_v(ones({2, 5, 4}));
  EXPECT_ERROR(multi_head_attention_forward(x, x, x, given), "expecting static_k.size(0) of 8");
  given.static_k(ones({8, 5, 4})).static_v(ones({8, 5, 4}));
  EXPECT_EQ(std::get<1>(multi_head_attention_forward(x, x, x, given)).sizes(),
            IntArrayRef({4, 3, 5}));
}

TEST(MultiheadAttention, FullyPaddedSamplesAreFiniteWithoutWeights) {
  MultiheadAttention module(8, 2);
  const Tensor x = randn({3, 4, 8}), padding = zeros({4, 3}, kBool);
  padding[1].fill_(true);
  const Tensor output = std::get<0>(module(x, x, x, padding, /*need_weights=*/false));
  EXPECT_TRUE(output.select(1, 1).equal(zeros({3, 8})));
  // As in PyTorch, the weights of such a sample are NaN.
  EXPECT_TRUE(std::get<1>(module(x, x, x, padding))[1].isnan().all().item<bool>());
}

TEST(MultiheadAttention, OutputDoesNotDependOnNeedWeights) {
  MultiheadAttention module(MultiheadAttentionOptions(8, 2).add_bias_kv(true).add_zero_attn(true));
  const Tensor x = randn({5, 2, 8}), mask = ones({5, 5}, kBool).triu(1);
  const auto [output, weights] = module(x, x, x, Tensor(), true, mask);
  const auto [output_alone, none] = module(x, x, x, Tensor(), false, mask);
  EXPECT_TRUE(output.allclose(output_alone, 1e-5, 1e-6));
  EXPECT_FALSE(none.defined());
  EXPECT_TRUE(weights.sum(-1).allclose(ones({2, 5})));
}

TEST(Transformer, ExplainsBadInput) {
  Transformer module(TransformerOptions(8, 2, 1, 1).dim_feedforward(16));
  const Tensor x = ones({3, 4, 8});
  EXPECT_ERROR(module(x, ones({3, 2, 8})),
               "src and tgt should have equal batch size (at dim 1), but got 4 and 2");
  EXPECT_ERROR(module(x, ones({3, 4, 6})),
               "src and tgt should have same feature size as d_model (at dim 2), but got 8 and 6 "
               "while d_model is 8");
  EXPECT_ERROR(module(x, ones({3, 8})), "src and tgt should have 3 dimensions, but got 3 and 2");
  EXPECT_ERROR(module(x, x, ones({2, 2})), "in module encoder.layers.0.self_attn");
  EXPECT_ERROR(TransformerImpl::generate_square_subsequent_mask(-1), "must be non-negative");
}

TEST(Transformer, BatchFirstOnlyMovesDimensions) {
  Transformer module(TransformerOptions(8, 2, 1, 1).dim_feedforward(16).norm_first(true));
  Transformer batch_first(
      TransformerOptions(8, 2, 1, 1).dim_feedforward(16).norm_first(true).batch_first(true));
  batch_first->load_state_dict(module->state_dict());
  module->eval();
  batch_first->eval();
  const Tensor source = randn({5, 2, 8}), target = randn({3, 2, 8});
  const Tensor moved = batch_first(source.transpose(0, 1), target.transpose(0, 1));
  EXPECT_TRUE(moved.transpose(0, 1).allclose(module(source, target), 1e-4, 1e-5));
}

TEST(Transformer, CheckpointedLayersDropTheSameElements) {
  TransformerEncoderLayer layer(TransformerEncoderLayerOptions(16, 2).dim_feedforward(40));
  const Tensor x = randn({7, 3, 16});
  const auto gradients = [&](bool is_checkpointed) {
    manual_seed(11);
    const auto call = [&](const Tensor& input) { return layer(input); };
    const Tensor out = is_checkpointed ? hearth::utils::checkpoint(call, x) : call(x);
    std::vector<Tensor> results{out.detach(), rand({3})};
    const auto grads = autograd::grad({out.pow(2).sum()}, layer->parameters());
    results.insert(results.end(), grads.begin(), grads.end());
    return results;
  };
  const std::vector<Tensor> plain = gradients(false), checkpointed = gradients(true);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(checkpointed[i].equal(plain[i])) << i;
}

TEST(PositionalEncoding, AddsSinesAndCosines) {
  PositionalEncoding module(PositionalEncodingOptions(5).max_len(10).dropout(0));
  const Tensor out = module(zeros({4, 2, 5}));
  for (int64_t position = 0; position < 4; ++position)
    for (int64_t feature = 0; feature < 5; ++feature) {
      const double angle = double(position) / std::pow(10000.0, double(feature / 2 * 2) / 5);
      EXPECT_NEAR(out[position][1][feature].item<double>(),
                  feature % 2 ? std::cos(angle) : std::sin(angle), 1e-6);
    }
  EXPECT_ERROR(module(zeros({11, 2, 5})), "the sequence has 11 elements, more than max_len = 10");
  EXPECT_TRUE(module->parameters().empty());
  EXPECT_TRUE(module->state_dict().contains("pe"));
}

}  // namespace
}  // namespace hearth::testing
