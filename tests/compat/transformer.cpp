// Initial weights, outputs and random numbers of Transformers: literal values from LibTorch 2.15.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

using torch::Tensor;
using namespace torch::nn;

/// A tensor [length, 4, 8] of fixed numbers around 0.
Tensor values(int64_t length, int64_t factor, int64_t modulus, double scale, double shift) {
  return torch::arange(length * 32)
      .to(torch::kFloat)
      .mul(factor)
      .fmod(modulus)
      .div(scale)
      .sub(shift)
      .reshape({length, 4, 8});
}

class Transformers : public ::testing::Test {
 protected:
  const Tensor target = values(3, 37, 101, 50.5, 0.993), source = values(5, 29, 97, 48.5, 0.99);
};

/// The sum of the absolute values.
double absolute_sum(const Tensor& t) {
  return t.detach().to(torch::kDouble).abs().sum().item<double>();
}

TEST_F(Transformers, Attention) {
  torch::manual_seed(1);
  MultiheadAttention module(MultiheadAttentionOptions(8, 2).dropout(0.3));
  EXPECT_NEAR(absolute_sum(module->in_proj_weight), 43.823905, 1e-4);
  torch::manual_seed(3);
  const auto [output, weights] = module(target, target, target);
  EXPECT_NEAR(absolute_sum(output), 13.317358, 1e-4);
  EXPECT_NEAR(absolute_sum(weights), 14.075525, 1e-4);
  output.sum().backward();
  EXPECT_NEAR(absolute_sum(module->in_proj_weight.grad()), 67.998135, 1e-3);
  module->eval();
  EXPECT_NEAR(absolute_sum(std::get<0>(module(target, source, source, Tensor(), false))), 3.8708986,
              1e-4);
  EXPECT_EQ(std::get<1>(module(target, source, source, Tensor(), true, Tensor(), false)).sizes(),
            (std::vector<int64_t>{4, 2, 3, 5}));
}

TEST_F(Transformers, EncoderOfClonedLayers) {
  torch::manual_seed(8);
  TransformerEncoder encoder(
      TransformerEncoderOptions(TransformerEncoderLayerOptions(8, 2).dim_feedforward(16), 2)
          .norm(AnyModule(LayerNorm(LayerNormOptions({8})))));
  encoder->eval();
  EXPECT_NEAR(absolute_sum(encoder(target)), 82.32298, 1e-3);
  EXPECT_NEAR(absolute_sum(encoder->named_parameters()["layers.1.linear2.bias"]), 1.5186667, 1e-5);
  encoder->reset_parameters();
  EXPECT_NEAR(absolute_sum(encoder->named_parameters()["layers.1.linear2.bias"]), 1.2273268, 1e-5);
}

TEST_F(Transformers, EncoderAndDecoder) {
  torch::manual_seed(10);
  Transformer module(TransformerOptions(8, 2, 2, 1).dim_feedforward(16));
  const auto parameters = module->named_parameters();
  EXPECT_NEAR(absolute_sum(parameters["encoder.layers.1.linear1.weight"]), 32.877927, 1e-4);
  EXPECT_NEAR(absolute_sum(parameters["decoder.layers.0.multihead_attn.in_proj_weight"]), 41.391926,
              1e-4);
  EXPECT_EQ(parameters.keys().back(), "decoder.norm.bias");
  torch::manual_seed(11);
  EXPECT_NEAR(absolute_sum(module(source, target)), 82.281987, 1e-3);
  module->eval();
  const Tensor mask = TransformerImpl::generate_square_subsequent_mask(3);
  EXPECT_NEAR(absolute_sum(module(source, target, Tensor(), mask)), 82.740635, 1e-3);
  const auto copy = std::dynamic_pointer_cast<TransformerImpl>(module->clone());
  EXPECT_TRUE(
      copy->forward(source, target, Tensor(), mask).equal(module(source, target, Tensor(), mask)));
}

TEST_F(Transformers, RunInAnyModule) {
  TransformerEncoderLayer layer(TransformerEncoderLayerOptions(8, 2).activation(torch::kGELU));
  layer->eval();
  AnyModule any(layer);
  EXPECT_TRUE(any.forward(target).equal(layer(target)));
  EXPECT_TRUE(Sequential(layer, layer)->forward(target).equal(layer(layer(target))));
}

}  // namespace
