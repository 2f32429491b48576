// Initialisers and utilities; errors and some properties of modules.
#include <cmath>
#include <limits>
#include <tuple>

#include "hearth/autograd.h"
#include "hearth/nn.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/nn/support.h"
#include "tests/support/warnings.h"

namespace {

using namespace hearth;
using namespace hearth::nn;
using hearth::testing::Warnings;

TEST(Init, ComputesGainsAndFans) {
  EXPECT_DOUBLE_EQ(init::calculate_gain(kTanh), 5.0 / 3);
  EXPECT_DOUBLE_EQ(init::calculate_gain(kReLU), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(init::calculate_gain(kLeakyReLU, 1), 1);
  EXPECT_DOUBLE_EQ(init::calculate_gain(kSigmoid), 1);
  const auto [in, out] = init::_calculate_fan_in_and_fan_out(empty({2, 3, 4, 5}));
  EXPECT_EQ(in, 60);
  EXPECT_EQ(out, 40);
  EXPECT_ERROR(init::xavier_normal_(empty(3)), "Fan in and fan out can not be computed");
}

TEST(Init, FillsTensors) {
  EXPECT_TRUE(init::eye_(empty({2, 3})).equal(eye(2, 3)));
  EXPECT_TRUE(init::constant_(empty(2), 3).equal(full({2}, 3.0)));
  const Tensor weight = init::dirac_(empty({2, 2, 3, 3}));
  const Tensor image = rand({1, 2, 4, 4});
  EXPECT_TRUE(conv2d(image, weight, {}, 1, 1).allclose(image));
  EXPECT_ERROR(init::dirac_(empty({2, 2})), "Only tensors with 3, 4, or 5 dimensions");
  const Tensor sparse = init::sparse_(empty({10, 4}), 0.25);
  EXPECT_TRUE(sparse.eq(0).sum(0).equal(full({4}, 3)));
  const Tensor leaf = empty({3, 3}, requires_grad());
  init::uniform_(leaf, 2, 3);
  EXPECT_TRUE(leaf.is_leaf() && leaf.min().item<float>() >= 2);
}

TEST(Init, WarnsOfEmptyTensors) {
  const Warnings warnings;
  Linear linear(0, 2);
  init::kaiming_uniform_(empty({2, 0}));
  init::kaiming_normal_(empty({2, 0}));
  Conv2d conv(1, 2, 0);
  EXPECT_EQ(Warnings::said(),
            std::vector<std::string>(4, "Initializing zero-element tensors is a no-op"));
  EXPECT_TRUE(linear->bias.equal(zeros(2)));
  EXPECT_TRUE(conv->bias.equal(zeros(2)));
}

TEST(Init, OrthogonalMatricesAreOrthogonal) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{4, 6}, {6, 4}, {3, 2, 2}}) {
    const Tensor q = init::orthogonal_(empty(sizes, kDouble), 2).reshape({sizes[0], -1});
    const bool is_wide = q.size(0) < q.size(1);
    const Tensor product = is_wide ? q.mm(q.t()) : q.t().mm(q);
    EXPECT_TRUE(product.allclose(eye(product.size(0), kDouble) * 4));
  }
  // Expected: torch.nn.init.orthogonal_(torch.empty(2, 3)) after torch.manual_seed(0).
  manual_seed(0);
  EXPECT_TRUE(init::orthogonal_(empty({2, 3}))
                  .allclose(tensor({{0.57398093, -0.10929461, -0.81154215},
                                    {-0.34541512, -0.93088269, -0.11893554}}),
                            1e-4, 1e-5));
}

/// Expected: [:6] and sum() of torch.nn.init.trunc_normal_(torch.empty(20), ...) after
/// torch.manual_seed(3).
TEST(Init, TruncatedNormalDrawsAsPyTorch) {
  const auto check = [](std::vector<double> expected, double sum, ScalarType dtype, double mean,
                        double std, double a, double b) {
    manual_seed(3);
    const Tensor drawn = init::trunc_normal_(empty(20, dtype), mean, std, a, b).to(kDouble);
    EXPECT_TRUE(drawn.slice(0, 0, 6).allclose(tensor(expected, kDouble), 1e-5, 1e-5)) << drawn;
    EXPECT_NEAR(drawn.sum().item<double>(), sum, 1e-4);
    EXPECT_TRUE(drawn.ge(a).logical_and(drawn.le(b)).all().item<bool>());
  };
  check({-0.076644, 0.359882, -0.782017, 0.071528, 0.619702, 0.522187}, 4.13685, kFloat, 0, 1, -1,
        1);
  check({1.004264, 1.105569, 1.443307, 1.026955, 1.471614, 1.060116}, 28.24993, kFloat, 0, 1, 1, 2);
  check({0.064502, 0.793354, 1.838162, -0.528248, 0.46474, -0.068339}, 20.256225, kDouble, 0.5, 2,
        -1, 3);
  {
    const Warnings warnings;
    check({1.731512, 1.300617, 1.829862, 1.916239, 1.809851, 1.282718}, 33.90701, kFloat, 5, 1, -2,
          2);
    EXPECT_TRUE(Warnings::contains("mean is more than 2 std"));
  }
  EXPECT_ERROR(init::trunc_normal_(empty(2), 0, 0), "expected a positive std");
}

TEST(Utils, ClipGradientsByNorm) {
  const Tensor a = zeros(2, requires_grad()), b = zeros({2, 2}, requires_grad());
  const Tensor unused = zeros(1, requires_grad());
  a.mutable_grad() = tensor({3.0, 0.0});
  b.mutable_grad() = full({2, 2}, 2.0);
  EXPECT_DOUBLE_EQ(utils::clip_grad_norm_({a, b, unused}, 1), 5);
  EXPECT_TRUE(a.grad().allclose(tensor({0.6, 0.0})));
  EXPECT_NEAR(utils::clip_grad_norm_({a, b}, 10), 1, 1e-5);
  EXPECT_TRUE(b.grad().allclose(full({2, 2}, 0.4)));  // unchanged
  EXPECT_NEAR(utils::clip_grad_norm_(a, 0.3, std::numeric_limits<double>::infinity()), 0.6, 1e-5);
  EXPECT_NEAR(a.grad()[0].item<double>(), 0.3, 1e-5);
  EXPECT_EQ(utils::clip_grad_norm_(unused, 1), 0);
  a.mutable_grad() = tensor({INFINITY, 0.f});
  EXPECT_ERROR(utils::clip_grad_norm_({a}, 1, 2, true),
               "The total norm of order 2 for gradients from `parameters` is non-finite");
}

TEST(Utils, ClipEachGradientOnce) {
  const Tensor a = zeros(2, requires_grad()), same = a;
  a.mutable_grad() = tensor({3.0, 4.0});
  EXPECT_DOUBLE_EQ(utils::clip_grad_norm_({a, same}, 1), 5);
  EXPECT_TRUE(a.grad().allclose(tensor({0.6, 0.8})));
}

TEST(Utils, ClipGradientsByValue) {
  const Tensor a = zeros(3, requires_grad());
  a.mutable_grad() = tensor({-5.0, 0.1, 7.0});
  utils::clip_grad_value_(a, 2);
  EXPECT_TRUE(a.grad().equal(tensor({-2.0, 0.1, 2.0})));
}

TEST(Utils, ParametersConvertToAVectorAndBack) {
  Sequential net(Linear(2, 3), Linear(3, 1));
  const Tensor vector = utils::parameters_to_vector(net->parameters());
  EXPECT_EQ(vector.numel(), 13);
  const Tensor values = arange(13, kFloat);
  utils::vector_to_parameters(values, net->parameters());
  EXPECT_TRUE(utils::parameters_to_vector(net->parameters()).equal(values));
  EXPECT_TRUE(net->parameters()[0].requires_grad());
  EXPECT_EQ(net->parameters()[1][0].item<float>(), 6);
}

TEST(Modules, RejectInvalidArguments) {
  EXPECT_ERROR(Conv2d(Conv2dOptions(3, 4, 2).groups(2)), "in_channels must be divisible by groups");
  EXPECT_ERROR(Conv2d(0, 4, 2), "in_channels, groups and out_channels must be a positive integer.");
  EXPECT_ERROR(Conv2d(Conv2dOptions(3, 4, 2).padding(kSame).stride(2)),
               "padding='same' is not supported for strided convolutions");
  EXPECT_ERROR(Conv2d(Conv2dOptions(3, 4, {1, 2, 3})), "Expected 2 values, but instead got 3");
  EXPECT_ERROR(Dropout(1.5), "dropout probability has to be between 0 and 1, but got 1.5");
  EXPECT_ERROR(LSTM(2, 0), "hidden_size must be greater than zero");
  EXPECT_ERROR(LSTM(0, 1), "input_size must be greater than zero");
  EXPECT_ERROR(GRU(GRUOptions(2, 3).num_layers(0)), "num_layers must be greater than zero");
  EXPECT_ERROR(RNN(2, 3)(ones({1, 1, 5})),
               "input.size(-1) must be equal to input_size. Expected "
               "2, got 5");
  EXPECT_ERROR(RNN(2, 3)(ones({1, 1, 2}), ones({1, 2, 3})),
               "Expected hidden size 1 1 3, got [1, 2, 3]");
  EXPECT_ERROR(BatchNorm1d(3)(ones({2, 3, 4, 5})), "expected 2D or 3D input (got 4D input)");
  EXPECT_ERROR(BatchNorm2d(3)(ones({2, 3})), "expected 4D input (got 2D input)");
  EXPECT_ERROR(BatchNorm1d(3)(ones({1, 3})),
               "Expected more than 1 value per channel when training");
  EXPECT_ERROR(BatchNorm1d(2)(ones({4, 3})), "running_mean should contain 3 elements not 2");
  EXPECT_ERROR(GroupNorm(2, 3), "num_channels (3) must be divisible by num_groups (2)");
  EXPECT_ERROR(Embedding(EmbeddingOptions(3, 2).padding_idx(3)),
               "Padding_idx must be within num_embeddings");
  EXPECT_ERROR(BCEWithLogitsLoss()(ones(2), ones(3)), "must be the same as input size");
  EXPECT_ERROR(ConvTranspose2d(1, 1, 3)->forward(ones({1, 1, 2, 2}), IntArrayRef({9, 9})),
               "requested an output size of [9, 9]");
}

TEST(Modules, RowsOfIndicesAreBagsWhateverTheOffsets) {
  EmbeddingBag bag(EmbeddingBagOptions(4, 1).mode(kSum).include_last_offset(true));
  const NoGradGuard no_grad;
  bag->weight.copy_(arange(4, kFloat).view({4, 1}));
  const Tensor sums = bag(tensor({{0, 1}, {2, 3}}));
  EXPECT_TRUE(sums.equal(tensor({{1.0F}, {5.0F}})));
}

TEST(Modules, A0dTargetCountsInFull) {
  const Tensor input = ones({3}), target = zeros({}, kDouble);
  EXPECT_EQ(functional::mse_loss(input, target).scalar_type(), kDouble);
  EXPECT_EQ(functional::l1_loss(input, target).scalar_type(), kDouble);
  EXPECT_EQ(functional::smooth_l1_loss(input, target).scalar_type(), kDouble);
}

TEST(Modules, OptionsAreCopyableBuilders) {
  const auto options = Conv2dOptions(1, 2, 3).padding({1, 2}).bias(false);
  Conv2dOptions copy = options;
  copy.in_channels() = 4;
  EXPECT_EQ(options.in_channels(), 1);
  EXPECT_EQ(copy.in_channels(), 4);
  EXPECT_FALSE(Conv2d(options)->bias.defined());
  EXPECT_EQ(enumtype::get_enum_name(options.padding_mode()), "kZeros");
}

TEST(Pooling, InfiniteNormsAreExtremes) {
  const Tensor x = tensor({{{1.0F, -5.0F, 2.0F, 3.0F}}});
  const auto pool = [&](double p) {
    return functional::lp_pool1d(x, functional::LPPool1dFuncOptions(p, 2));
  };
  EXPECT_TRUE(pool(INFINITY).equal(tensor({{{5.0F, 3.0F}}})));
  EXPECT_TRUE(pool(-INFINITY).equal(tensor({{{1.0F, 2.0F}}})));
}

/// PyTorch's gradients. A window of zeros, at which the root has no slope, is common after relu.
TEST(Pooling, NormsOfZerosHaveGradientZero) {
  namespace F = functional;
  for (const auto& [p, first, second] :
       {std::tuple{2., 0.4472136, 0.8944272}, std::tuple{3., 0.2311204, 0.9244818},
        std::tuple{1.5, 0.6392340, 0.9040134}}) {
    const Tensor x = tensor({0.f, 0.f, 1.f, 2.f}).view({1, 1, 4}).requires_grad_();
    F::lp_pool1d(x, F::LPPool1dFuncOptions(p, 2)).sum().backward();
    const Tensor expected = tensor({0., 0., first, second}).view({1, 1, 4}).to(kFloat);
    EXPECT_TRUE(x.grad().allclose(expected, 1e-5)) << p;
  }
}

TEST(Modules, PretrainedEmbeddingsAreFrozen) {
  const Tensor table = rand({4, 2});
  const auto embedding = Embedding::from_pretrained(table);
  EXPECT_FALSE(embedding->weight.requires_grad());
  EXPECT_TRUE(embedding->weight.is_alias_of(table));
  EXPECT_FALSE(table.requires_grad());
  const auto copy = std::dynamic_pointer_cast<EmbeddingImpl>(embedding->clone());
  EXPECT_FALSE(copy->weight.is_alias_of(table));
  EXPECT_TRUE(embedding->weight.is_alias_of(table));
}

}  // namespace
