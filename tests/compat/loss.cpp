// Losses, distances and EmbeddingBag: names, options, texts and literal values from LibTorch 2.15.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/compat/texts.h"

namespace {

using hearth::testing::printed;
using torch::Tensor;
using namespace torch::nn;
namespace F = torch::nn::functional;

/// The first line of the error that a call throws.
template <class Call>
std::string error_of(Call call) {
  const std::string text = hearth::testing::text_of_error(call);
  return text.substr(0, text.find('\n'));
}

Tensor numbers() { return torch::arange(12).to(torch::kFloat).reshape({3, 4}) / 7; }

TEST(Losses, Print) {
  EXPECT_EQ(printed(KLDivLoss(torch::kBatchMean)), "KLDivLoss()");
  EXPECT_EQ(printed(HingeEmbeddingLoss(HingeEmbeddingLossOptions().margin(2))),
            "HingeEmbeddingLoss(margin=2)");
  EXPECT_EQ(printed(CosineEmbeddingLoss()), "CosineEmbeddingLoss(margin=0)");
  EXPECT_EQ(printed(HuberLoss()), "HuberLoss");
  EXPECT_EQ(printed(SmoothL1Loss()), "SmoothL1Loss");
  EXPECT_EQ(printed(TripletMarginLoss(TripletMarginLossOptions().p(1).eps(1e-3).swap(true))),
            "TripletMarginLoss(margin=1, p=1, eps=0.001, swap=true)");
  EXPECT_EQ(printed(TripletMarginWithDistanceLoss()),
            "TripletMarginWithDistanceLoss(margin=1, swap=false)");
  EXPECT_EQ(printed(PairwiseDistance(PairwiseDistanceOptions().p(3))),
            "PairwiseDistance(p=3, eps=1e-06, keepdim=false)");
  EXPECT_EQ(printed(CosineSimilarity()), "CosineSimilarity(dim=1, eps=1e-08)");
  EXPECT_EQ(printed(EmbeddingBag(EmbeddingBagOptions(5, 3).max_norm(1.5).mode(torch::kMax))),
            "EmbeddingBag(num_embeddings=5, embedding_dim=3, max_norm=1.5, mode=kMax)");
  EXPECT_EQ(printed(MultiMarginLoss()).substr(0, 37), "MultiMarginLoss(p=1, margin=1, weight");
}

TEST(Losses, Values) {
  const Tensor x = numbers(), y = torch::tensor({1, 0, 3});
  EXPECT_NEAR(F::multi_margin_loss(x, y).item<double>(), 0.773809, 1e-5);
  EXPECT_NEAR(F::multi_margin_loss(x, y, F::MultiMarginLossFuncOptions().p(2)).item<double>(),
              0.855442, 1e-5);
  EXPECT_NEAR(torch::multi_margin_loss(x, y, 2, 1).item<double>(), 0.855442, 1e-5);
  const Tensor labels = torch::tensor({3, 0, -1, 1});
  const Tensor scores = torch::tensor({0.1, 0.2, 0.4, 0.8});
  EXPECT_NEAR(F::multilabel_margin_loss(scores, labels).item<double>(), 0.85, 1e-6);
  EXPECT_NEAR(
      std::get<1>(torch::multilabel_margin_loss_forward(scores, labels, 1)).sum().item<double>(), 2,
      0);
  EXPECT_NEAR(F::soft_margin_loss(torch::ones({1}), torch::ones({1})).item<double>(), 0.313262,
              1e-5);
  EXPECT_TRUE(F::_smooth_l1_loss(x, x + 2).allclose(torch::full({3, 4}, 1.5)));
}

TEST(Losses, Errors) {
  const Tensor x = numbers(), y = torch::tensor({1, 0, 3});
  EXPECT_EQ(error_of([&] { MultiMarginLoss(MultiMarginLossOptions().p(3)); }),
            "only p == 1 and p == 2 supported");
  EXPECT_EQ(error_of([&] { F::multi_margin_loss(x, y + 1); }), "target out of range");
  EXPECT_EQ(error_of([&] { F::margin_ranking_loss(x, x, y); }),
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            "input1: [3, 4], input2: [3, 4], target: [3]");
  EXPECT_EQ(error_of([] {
              AdaptiveLogSoftmaxWithLoss(AdaptiveLogSoftmaxWithLossOptions(8, 10, {4, 4}));
            }),
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            "order, where each value is between 1 and n_classes-1");
}

TEST(Distances, CdistAndPdist) {
  const Tensor a = numbers() * 7, b = torch::tensor({{0., 1., 2., 3.}, {3., 3., 1., 0.}});
  EXPECT_NEAR(torch::cdist(a, b).sum().item<double>(), 53.901302, 1e-4);
  EXPECT_TRUE(torch::cdist(a, b, 2.0, 1).allclose(torch::cdist(a, b, 2.0, 2), 1e-4, 1e-4));
  EXPECT_TRUE(F::pdist(a).allclose(torch::tensor({8., 16., 8.})));
  EXPECT_EQ(error_of([&] { torch::cdist(a, b, -1); }), "cdist only supports non-negative p values");
  PairwiseDistance distance;
  EXPECT_NEAR(distance(a, a + 1).sum().item<double>(), 6, 1e-4);
}

TEST(CtcLoss, Values) {
  const Tensor x = (torch::arange(40).to(torch::kFloat) * 37).fmod(101).reshape({5, 2, 4}) / 50;
  const Tensor log_probs = x.log_softmax(2).requires_grad_();
  const Tensor targets = torch::tensor({{1, 2, 0}, {3, 1, 2}});
  const Tensor lengths = torch::tensor({5, 4}), target_lengths = torch::tensor({2, 3});
  const Tensor loss =
      CTCLoss(CTCLossOptions().reduction(torch::kSum))(log_probs, targets, lengths, target_lengths);
  loss.backward();
  EXPECT_TRUE(
      torch::ctc_loss(log_probs, targets, {5, 4}, {2, 3}, 0, torch::Reduction::Sum).allclose(loss));
  EXPECT_NEAR(log_probs.grad().sum().item<double>(), 0, 1e-5);
  EXPECT_EQ(
      error_of([&] { torch::ctc_loss(log_probs, targets, lengths.to(torch::kFloat), lengths); }),
      "input_lengths must be integral");
}

TEST(EmbeddingBags, Modes) {
  const Tensor table = torch::arange(12).to(torch::kFloat).reshape({4, 3});
  EmbeddingBag bag =
      EmbeddingBag::from_pretrained(table, EmbeddingBagFromPretrainedOptions().mode(torch::kSum));
  const Tensor indices = torch::tensor({0, 1, 2}), offsets = torch::tensor({0, 2});
  EXPECT_TRUE(bag(indices, offsets).equal(torch::tensor({{3.f, 5.f, 7.f}, {6.f, 7.f, 8.f}})));
  EXPECT_TRUE(bag(indices, offsets, torch::ones({3}) * 2).equal(bag(indices, offsets) * 2));
  EXPECT_TRUE(bag(indices.reshape({1, 3})).equal(torch::tensor({{9.f, 12.f, 15.f}})));
  EXPECT_FALSE(bag->weight.requires_grad());
  AnyModule any(bag);
  EXPECT_TRUE(any.forward(indices.reshape({1, 3})).equal(bag(indices.reshape({1, 3}))));
  const auto result = torch::embedding_bag(table, indices, offsets, false, 2);
  EXPECT_TRUE(std::get<0>(result).equal(torch::tensor({{3.f, 4.f, 5.f}, {6.f, 7.f, 8.f}})));
  EXPECT_EQ(error_of([&] { bag(indices); }), "offsets has to be a 1D Tensor but got null");
  EXPECT_EQ(error_of([&] {
              bag(indices.reshape({1, 3}), offsets);
            }).substr(0, 44),
            "If input is 2D, then offsets has to be null,");
  Tensor copy = table.clone();
  torch::embedding_renorm_(copy, torch::tensor({1}), 1, 2);
  EXPECT_NEAR(copy[1].norm().item<double>(), 1, 1e-5);
}

TEST(Adaptive, LossIsTheMeanOfTheOutputs) {
  AdaptiveLogSoftmaxWithLoss module(AdaptiveLogSoftmaxWithLossOptions(8, 10, {4, 6}).div_value(2));
  const Tensor x = torch::randn({5, 8}), y = torch::tensor({1, 9, 4, 7, 0});
  const ASMoutput result = module(x, y);
  EXPECT_NEAR(result.loss, -result.output.mean().item<double>(), 1e-6);
  EXPECT_TRUE(module->log_prob(x).exp().sum(1).allclose(torch::ones({5})));
  EXPECT_TRUE(module->log_prob(x).argmax(1).equal(module->predict(x)));
}

}  // namespace
