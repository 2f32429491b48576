// Values, dtypes and errors of losses and distances that do not follow from their mathematical
// definition. The expected ones are LibTorch 2.15's or derived here.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "tests/ops/near.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

TEST(LibtorchLosses, BinaryCrossEntropySqueezesInputAndTarget) {
  const Tensor input = leaf({0.1, 0.2, 0.3}), target = doubles({0, 1, 0.5});
  const std::vector<double> losses{-std::log(0.9), -std::log(0.2),
                                   -0.5 * (std::log(0.3) + std::log(0.7))};
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 1}, {1, 3}, {1, 3, 1}}) {
    const Tensor column = input.view(sizes);
    const Tensor each = binary_cross_entropy(column, target, {}, Reduction::None);
    EXPECT_EQ(each.sizes().vec(), sizes);
    expect_near(each, losses);
    expect_near(binary_cross_entropy(column, target), {(losses[0] + losses[1] + losses[2]) / 3});
    expect_near(binary_cross_entropy(column.detach(), target.view({3, 1, 1}), {}, Reduction::Sum),
                {losses[0] + losses[1] + losses[2]});
  }
  binary_cross_entropy(input.view({3, 1}), target, {}, Reduction::Sum).backward();
  expect_near(input.grad(), {1 / 0.9, -1 / 0.2, (0.3 - 0.5) / (0.3 * 0.7)});
}

TEST(LibtorchLosses, BinaryCrossEntropyChecksSizesAndWeight) {
  const Tensor p = full({3, 2}, 0.5), q = full({3}, 0.5);
  EXPECT_ERROR(binary_cross_entropy(p, q),
               "The size of tensor a (2) must match the size of tensor b (3)");
  EXPECT_ERROR(binary_cross_entropy(p.select(0, 0), p),
               "output with shape [2] doesn't match the broadcast shape [3, 2]");
  EXPECT_ERROR(binary_cross_entropy(p, p, full({3, 2}, 2.0).requires_grad_()),
               "The function 'binary_cross_entropy' is not differentiable with respect to argument "
               "'weight'.");
  const Tensor weighted = binary_cross_entropy(p, p, full({2}, 2.0, kDouble));
  EXPECT_EQ(weighted.scalar_type(), kFloat);
  EXPECT_NEAR(weighted.item<double>(), 2 * std::log(2), 1e-6);
}

TEST(LibtorchLosses, BinaryCrossEntropyWithLogitsHasTheTargetsSizesAndDtype) {
  const Tensor x = ones({3, 1}), t = ones({3});
  EXPECT_ERROR(binary_cross_entropy_with_logits(x, t),
               "output with shape [3] doesn't match the broadcast shape [3, 3]");
  EXPECT_EQ(
      binary_cross_entropy_with_logits(t, ones({2, 3}), {}, {}, Reduction::None).sizes().vec(),
      (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(binary_cross_entropy_with_logits(t, t.to(kHalf)).scalar_type(), kHalf);
  EXPECT_ERROR(binary_cross_entropy_with_logits(t, ones({3}, kLong)),
               "result type Float can't be cast to the desired output type Long");
}

TEST(LibtorchLosses, HuberLossHasTheInputsDtype) {
  EXPECT_EQ(huber_loss(ones({2}), zeros({2}, kDouble), Reduction::None).scalar_type(), kFloat);
}

TEST(LibtorchLosses, NllLossOfAVectorIs0d) {
  const Tensor scores = doubles({-1, -2}), target = ones({1}, kLong);
  const Tensor loss = nll_loss(scores, target, {}, Reduction::None);
  EXPECT_EQ(loss.dim(), 0);
  EXPECT_EQ(loss.item<double>(), 2);
  EXPECT_ERROR(nll_loss(zeros({3, 2}), zeros({2}, kLong)),
               "size mismatch (got input: [3, 2], target: [2])");
  EXPECT_ERROR(nll_loss_nd(zeros({3, 2}), zeros({2}, kLong)),
               "Expected input batch_size (3) to match target batch_size (2).");
}

TEST(LibtorchLosses, MarginRankingLossBroadcasts) {
  const Tensor a = leaf({0.1, 0.2, 0.3}), b = doubles({0, 1, 0.5});
  expect_near(margin_ranking_loss(a.view({3, 1}), b, b, 0.1, Reduction::None),
              {0.1, 1, 0.3, 0.1, 0.9, 0.25, 0.1, 0.8, 0.2});
  // The gradient is 0 at the margin.
  margin_ranking_loss(a, a.detach(), doubles({1, 1, 1}), 0, Reduction::Sum).backward();
  expect_near(a.grad(), {0, 0, 0});
}

TEST(LibtorchLosses, CosineSimilarityDifferentiatesNormsBelowEps) {
  const Tensor a = leaf({0.3, 0.4}), b = doubles({0.6, 0.8});
  cosine_similarity(a, b, 0, 10).backward();
  // eps = 10 replaces both norms: dy/da = (b - a (a . b) / (10 |a|)) / 100.
  const double y = 0.5, slope = y / (10 * 0.5);
  expect_near(a.grad(), {(0.6 - 0.3 * slope) / 100, (0.8 - 0.4 * slope) / 100});
}

TEST(LibtorchLosses, PairwiseDistanceOfEqualVectorsHasGradientZero) {
  for (const double p : {0.5, 2.0, 3.0}) {
    const Tensor a = leaf({1, 2});
    pairwise_distance(a, a.detach(), p, 0).backward();
    expect_near(a.grad(), {0, 0});
  }
  const Tensor a = leaf({1, 2});
  EXPECT_EQ(pairwise_distance(a, doubles({0, 2}), 0, 0).item<double>(), 1);
}

TEST(LibtorchLosses, MixedDtypesOfHuberAndSoftMarginLoss) {
  const Tensor x = ones({3}), integers = ones({3}, kLong);
  EXPECT_ERROR(huber_loss(ones({3}, kBool), integers),
               "result type Long can't be cast to the desired output type Bool");
  EXPECT_ERROR(huber_loss(integers, x),
               "result type Float can't be cast to the desired output type Long");
  EXPECT_ERROR(soft_margin_loss(integers, x),
               "result type Float can't be cast to the desired output type Long");
  EXPECT_ERROR(soft_margin_loss(integers, ones({3}).requires_grad_()),
               "The function 'soft_margin_loss' is not differentiable with respect to argument "
               "'target'.");
}

}  // namespace
}  // namespace hearth::testing
