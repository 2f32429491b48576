#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/loss_rows.h"

namespace hearth::testing {
namespace {

using LossFunction = std::function<Tensor(const Tensors&, int64_t reduction)>;

Row loss_row(std::string name, std::string op, Case inputs, LossFunction loss,
             std::function<double(const double*)> reference) {
  Row row;
  row.name = std::move(name);
  row.covers = {std::move(op)};
  Case small = inputs, scalars = inputs;
  for (Input& input : small) input.sizes = {2, 3, 2};
  for (Input& input : scalars) input.sizes = {};
  row.cases = {inputs, small, scalars};
  row.call = [loss](const Tensors& in) {
    return Tensors{loss(in, Reduction::None), loss(in, Reduction::Mean), loss(in, Reduction::Sum)};
  };
  row.reference = [reference](const Arrays& in) { return reductions(map(in, reference)); };
  row.slack = 8;
  return row;
}

const Input kScores{{3, 5}}, kPositives{{3, 5}, Draw::kPositive};

Row mse_row() {
  Row row = loss_row(
      "mse_loss", "mse_loss", {kScores, kScores},
      [](const Tensors& in, int64_t r) { return mse_loss(in[0], in[1], r); },
      [](const double* x) { return (x[0] - x[1]) * (x[0] - x[1]); });
  row.cases.push_back({{{4, 3}}, {{3}}});
  row.out = [](Tensor& out, const Tensors& in) { mse_loss_out(out, in[0], in[1], 0); };
  row.refusals = {{[] { mse_loss(ones({3}, kLong), ones({3}, kLong)); },
                   "\"mse_loss\" not implemented for 'Long'"},
                  {[] { mse_loss(ones({2}), ones({3})); },
                   "The size of tensor a (2) must match the size of tensor b (3)"}};
  return row;
}

Row smooth_row() {
  Row row = loss_row(
      "smooth_l1_loss", "smooth_l1_loss", {kScores, kScores},
      [](const Tensors& in, int64_t r) { return smooth_l1_loss(in[0], in[1], r, 0.7); },
      [](const double* x) {
        const double d = std::fabs(x[0] - x[1]);
        return d < 0.7 ? 0.5 * d * d / 0.7 : d - 0.35;
      });
  row.refusals = {{[] { smooth_l1_loss(ones({3}), ones({3}), 1, -1); },
                   "smooth_l1_loss does not support negative values for beta."}};
  return row;
}

Row huber_row() {
  Row row = loss_row(
      "huber_loss", "huber_loss", {kScores, kScores},
      [](const Tensors& in, int64_t r) { return huber_loss(in[0], in[1], r, 0.6); },
      [](const double* x) {
        const double d = std::fabs(x[0] - x[1]);
        return d <= 0.6 ? 0.5 * d * d : 0.6 * (d - 0.3);
      });
  row.refusals = {{[] { huber_loss(ones({3}), ones({3}), 1, 0); },
                   "huber_loss does not support non-positive values for delta."}};
  return row;
}

/// Maps inputs between 0.2 and 2 to probabilities.
Tensor probability(const Tensor& t) { return t.mul(0.45); }

Row entropy_row() {
  Input weight = kScores;
  weight.constant = true;
  Row row = loss_row(
      "binary_cross_entropy", "binary_cross_entropy", {kPositives, kPositives, weight},
      [](const Tensors& in, int64_t r) {
        return binary_cross_entropy(probability(in[0]), probability(in[1]), in[2], r);
      },
      [](const double* x) {
        const double p = 0.45 * x[0], t = 0.45 * x[1];
        return -x[2] * (t * std::log(p) + (1 - t) * std::log(1 - p));
      });
  row.covers.push_back("binary_cross_entropy_backward");
  row.dtypes = dtypes::kFloatAndDouble;  // half types round the probabilities
  row.refusals = {{[] { binary_cross_entropy(full({1}, 2.0), ones({1})); },
                   "all elements of input should be between 0 and 1"},
                  {[] { binary_cross_entropy(ones({1}), full({1}, -1.0)); },
                   "all elements of target should be between 0 and 1"},
                  {[] { binary_cross_entropy(ones({1}), ones({1}, kDouble)); },
                   "Found dtype Double but expected Float"}};
  return row;
}

double log_sigmoid(double x) { return -std::log1p(std::exp(-x)); }

Row logits_row() {
  return loss_row(
      "binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", {kScores, kScores},
      [](const Tensors& in, int64_t r) {
        return binary_cross_entropy_with_logits(in[0], in[1], {}, {}, r);
      },
      [](const double* x) { return -x[1] * log_sigmoid(x[0]) - (1 - x[1]) * log_sigmoid(-x[0]); });
}

Row weighted_logits_row() {
  return loss_row(
      "binary_cross_entropy_with_logits_weighted", "binary_cross_entropy_with_logits.weighted",
      {kScores, kScores, kScores, kPositives},
      [](const Tensors& in, int64_t r) {
        return binary_cross_entropy_with_logits(in[0], in[1], in[2], in[3], r);
      },
      [](const double* x) {
        return x[2] * (-x[3] * x[1] * log_sigmoid(x[0]) - (1 - x[1]) * log_sigmoid(-x[0]));
      });
}

Row kl_row(bool log_target) {
  Row row = loss_row(
      log_target ? "kl_div_log_target" : "kl_div", log_target ? "kl_div.log_target" : "kl_div",
      {kScores, log_target ? kScores : kPositives},
      [log_target](const Tensors& in, int64_t r) { return kl_div(in[0], in[1], r, log_target); },
      [log_target](const double* x) {
        return log_target ? std::exp(x[1]) * (x[1] - x[0]) : x[1] * (std::log(x[1]) - x[0]);
      });
  row.refusals = {
      {[] { kl_div(ones({2}), ones({2}, kLong)); }, "kl_div: Integral inputs not supported."}};
  return row;
}

const Register registered_loss[] = {
    Register(mse_row()),
    Register(loss_row(
        "l1_loss", "l1_loss", {kScores, kScores},
        [](const Tensors& in, int64_t r) { return l1_loss(in[0], in[1], r); },
        [](const double* x) { return std::fabs(x[0] - x[1]); })),
    Register(smooth_row()),
    Register(huber_row()),
    Register(entropy_row()),
    Register(logits_row()),
    Register(weighted_logits_row()),
    Register(kl_row(false)),
    Register(kl_row(true))};

TEST(Losses, SpecialValues) {
  EXPECT_TRUE(l1_loss(ones({3}, kLong), zeros({3}, kLong), Reduction::Sum).equal(full({}, 3)));
  EXPECT_EQ(smooth_l1_loss(ones({2}), zeros({2}), Reduction::Mean, 0).item<float>(), 1);
  const Tensor p = zeros({1}).requires_grad_();
  const Tensor loss = binary_cross_entropy(p, ones({1}));
  EXPECT_EQ(loss.item<float>(), 100);
  loss.backward();
  EXPECT_FALSE(p.grad().isnan().any().item<bool>());
  for (double x : {-1e4, -100.0, 100.0, 1e4}) {
    const Tensor logit = full({1}, x).requires_grad_();
    binary_cross_entropy_with_logits(logit, ones({1})).backward();
    EXPECT_NEAR(logit.grad().item<float>(), x < 0 ? -1 : 0, 1e-6);
  }
  EXPECT_EQ(kl_div(full({1}, 1.0), zeros({1})).item<float>(), 0);
}

// As in PyTorch, which computes with a bool target as a number.
TEST(Losses, HaveDifferentiableGradientsForBoolTargets) {
  const Tensor x = tensor({0.5, -1.25}).requires_grad_(), target = tensor({true, false});
  const Tensor squared = autograd::grad({mse_loss(x, target, 0).sum()}, {x}, {}, true, true)[0];
  EXPECT_TRUE(squared.equal(tensor({-1., -2.5})));
  EXPECT_TRUE(autograd::grad({squared.sum()}, {x})[0].equal(full({2}, 2, kFloat)));
  const Tensor smooth =
      autograd::grad({smooth_l1_loss(x, target, 0).sum()}, {x}, {}, true, true)[0];
  EXPECT_TRUE(smooth.equal(tensor({-0.5, -1.})));
}

}  // namespace
}  // namespace hearth::testing
