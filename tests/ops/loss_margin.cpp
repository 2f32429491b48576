// soft_margin_loss, multi_margin_loss and multilabel_margin_loss; the second results of
// nll_loss_forward and nll_loss2d_forward.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/loss_rows.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using Loss = std::function<Tensor(const Tensors&, int64_t reduction)>;
std::function<Tensors(const Tensors&)> all_reductions(Loss loss) {
  return [loss](const Tensors& in) {
    return Tensors{loss(in, Reduction::None), loss(in, Reduction::Mean), loss(in, Reduction::Sum)};
  };
}

Row soft_margin_row() {
  Row row;
  row.name = "soft_margin_loss";
  row.covers = {"soft_margin_loss"};
  const auto pair = [](std::vector<int64_t> sizes) {
    Input target{sizes};
    target.constant = true;
    return Case{{sizes}, target};
  };
  row.cases = {pair({3, 5}), pair({}), {{{2, 3}}, pair({3})[1]}};
  row.call = all_reductions([](const Tensors& in, int64_t reduction) {
    return soft_margin_loss(in[0], in[1].detach(), reduction);
  });
  row.reference = [](const Arrays& in) {
    return reductions(map(in, [](const double* x) { return std::log1p(std::exp(-x[0] * x[1])); }));
  };
  row.slack = 8;
  row.out = [](Tensor& out, const Tensors& in) { soft_margin_loss_out(out, in[0], in[1], 0); };
  row.refusals = {
      {[] { soft_margin_loss(ones({1}), ones({3})); },
       "output with shape [1] doesn't match the broadcast shape [3]"},
      {[] { soft_margin_loss(ones({3}, kLong), ones({3})); }, "result type Float can't be cast"},
      {[] { soft_margin_loss(ones({3}), ones({3}).requires_grad_()); },
       "The function 'soft_margin_loss' is not differentiable with respect to argument 'target'."}};
  return row;
}

Array multi_margin_reference(const Arrays& in, int p, double margin) {
  const int64_t classes = in[0].sizes.back();
  return build(in[1].sizes, [&](const Position& n) {
    const auto score = [&](int64_t c) {
      return in[0].values[size_t((n.empty() ? 0 : n[0]) * classes + c)];
    };
    const auto target = int64_t(in[1].values[n.empty() ? 0 : size_t(n[0])]);
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      if (c != target) sum += std::pow(std::fmax(0, margin - score(target) + score(c)), p);
    return sum / double(classes) * (in.size() > 2 ? in[2].values[size_t(target)] : 1);
  });
}

Row multi_margin_row(std::string name, int p, double margin, bool weighted) {
  Row row;
  row.name = std::move(name);
  row.covers = {"multi_margin_loss"};
  row.cases = {{{{4, 3}}, {{4}, Draw::kIndex, 3}}, {{{3}}, {{}, Draw::kIndex, 3}}};
  for (Case& inputs : row.cases)
    if (weighted) inputs.push_back({{3}, Draw::kPositive, 0, false, false, true});
  row.call = all_reductions([=](const Tensors& in, int64_t reduction) {
    return multi_margin_loss(in[0], in[1], p, margin, weighted ? in[2].detach() : Tensor(),
                             reduction);
  });
  row.reference = [=](const Arrays& in) {
    return reductions(multi_margin_reference(in, p, margin));
  };
  row.slack = 8;
  return row;
}

Row refusing_loss_margin_row() {
  Row row = multi_margin_row("multi_margin_loss", 1, 1, false);
  const auto refusal = [](Tensor x, Tensor y, double p, Tensor weight, std::string text) {
    return Refusal{[=] { multi_margin_loss(x, y, p, 1, weight); }, std::move(text)};
  };
  const Tensor x = ones({3, 4}), y = zeros({3}, kLong), none;
  row.refusals = {
      refusal(x, y, 3, none, "only p == 1 and p == 2 supported"),
      refusal(x, y, 1, ones({3}), "inconsistent weight size, expected 4 but got [3]"),
      refusal(x, y, 1, ones({4}, kDouble), "expected scalar type Float but found Double"),
      refusal(x, y.add(4), 1, none, "target out of range"),
      refusal(x, y.sub(1), 1, none, "target out of range"),
      refusal(x, y.slice(0, 1), 1, none,
              "multi_margin_loss: target tensor should be 1-D with size equal to the number of "
              "input samples (batch size). Expected target size [3], but got [2]. Input has shape "
              "[3, 4]."),
      refusal(x, y.to(kInt), 1, none, "expected scalar type Long but found Int"),
      refusal(x.to(kLong), y, 1, none,
              "\"multi_margin_loss_cpu_kernel\" not implemented for 'Long'"),
      refusal(
          ones({3, 0}), y, 1, none,
          "Expected non-empty vector or matrix with optional 0-dim batch size, but got: [3, 0]")};
  return row;
}

Array multilabel_reference(const Arrays& in) {
  const int64_t classes = in[0].sizes.back();
  std::vector<int64_t> sizes = in[0].sizes;
  sizes.pop_back();
  return build(sizes, [&](const Position& p) {
    const double* const x = in[0].values.data() + (p.empty() ? 0 : p[0]) * classes;
    const double* const y = in[1].values.data() + (p.empty() ? 0 : p[0]) * classes;
    int64_t count = 0;
    while (count < classes && y[count] > 0) ++count;  // the labels are shifted by 1
    double sum = 0;
    for (int64_t k = 0; k < count; ++k)
      for (int64_t c = 0; c < classes; ++c) {
        bool is_target = false;
        for (int64_t other = 0; other < count; ++other) is_target |= y[other] == double(c + 1);
        if (!is_target) sum += std::fmax(0, 1 - x[int64_t(y[k]) - 1] + x[c]);
      }
    return sum / double(classes);
  });
}

Row multilabel_margin_row() {
  Row row;
  row.name = "multilabel_margin_loss";
  row.covers = {"multilabel_margin_loss", "multilabel_margin_loss_forward"};
  row.cases = {{{{6, 5}}, {{6, 5}, Draw::kIndex, 6}}, {{{4}}, {{4}, Draw::kIndex, 5}}};
  row.call = all_reductions([](const Tensors& in, int64_t reduction) {
    return multilabel_margin_loss(in[0], in[1].sub(1), reduction);
  });
  row.reference = [](const Arrays& in) { return reductions(multilabel_reference(in)); };
  row.slack = 8;
  const auto refusal = [](Tensor x, Tensor y, std::string text) {
    return Refusal{[=] { multilabel_margin_loss(x, y); }, std::move(text)};
  };
  const Tensor x = ones({2, 4}), y = zeros({2, 4}, kLong);
  row.refusals = {
      refusal(x, y[0], "inconsistent target size: [4] for input of size: [2, 4]"),
      refusal(x, y.add(4), "argument #2 'target' is out of range"),
      refusal(x, y.sub(2), "argument #2 'target' is out of range"),
      refusal(x, y.to(kInt), "expected scalar type Long but found Int"),
      refusal(x.to(kLong), y,
              "\"multilabel_margin_loss_forward_out_frame\" not implemented for 'Long'")};
  return row;
}

const Register registered_loss_margin[] = {
    Register(soft_margin_row()), Register(refusing_loss_margin_row()),
    Register(multi_margin_row("multi_margin_loss_squared", 2, 0.4, true)),
    Register(multilabel_margin_row())};

/// Values of PyTorch 2.15, except that its exponential overflows for `far`.
TEST(MarginLosses, SpecialValues) {
  const Tensor far = full({1}, 100).to(kFloat).requires_grad_();
  const Tensor loss = soft_margin_loss(far, full({1}, -1));
  EXPECT_EQ(loss.item<float>(), 100);
  loss.backward();
  EXPECT_EQ(far.grad().item<float>(), 1);
  const Tensor none = ones({0, 4}), no_labels = zeros({0, 4}, kLong);
  EXPECT_EQ(multi_margin_loss(none, zeros({0}, kLong)).item<float>(), 0);
  EXPECT_EQ(multilabel_margin_loss(none, no_labels).item<float>(), 0);
  EXPECT_EQ(multi_margin_loss(full({}, 2).to(kFloat), zeros({}, kLong)).item<float>(), 0);
  const Tensor edge = tensor({1., 2.}, kFloat).view({1, 2}).requires_grad_();
  multi_margin_loss(edge, ones({1}, kLong)).backward();
  EXPECT_EQ(edge.grad().abs().sum().item<float>(), 0);
}

TEST(MarginLosses, MultilabelForwardReturnsTheTargetMask) {
  const Tensor x = tensor({0.1, 0.2, 0.4, 0.8}, kFloat), y = tensor({3, 0, -1, 1});
  const auto [loss, is_target] = multilabel_margin_loss_forward(x, y, Reduction::None);
  EXPECT_NEAR(loss.item<double>(), 0.85, 1e-6);
  EXPECT_TRUE(is_target.equal(tensor({1., 0., 0., 1.}, kFloat)));
}

/// Values of PyTorch 2.15.
TEST(NllLossForward, ReturnsTheTotalWeight) {
  const Tensor x = arange(8, kFloat).view({2, 4}), y = tensor({1, 2}), weight = arange(4, kFloat);
  const auto [mean, total] = nll_loss_forward(x, y, weight, Reduction::Mean, 1);
  EXPECT_EQ(mean.item<float>(), -6);
  EXPECT_EQ(total.item<float>(), 2);
  EXPECT_EQ(std::get<1>(nll_loss_forward(x, y, weight, Reduction::None, 1)).item<float>(), 0);
  const auto [single, single_weight] = nll_loss_forward(x[0], y[0], weight, Reduction::None, -100);
  EXPECT_EQ(single.item<float>(), -1);
  EXPECT_EQ(single_weight.item<float>(), 1);
  const Tensor image = ones({2, 3, 1, 2}), classes = ones({2, 1, 2}, kLong);
  EXPECT_EQ(std::get<1>(nll_loss2d_forward(image, classes, {}, Reduction::Sum, -100)).item<float>(),
            4);
  EXPECT_ERROR(nll_loss_forward(image, classes, {}, 0, -100), "input tensor should be 1D or 2D");
}

}  // namespace
}  // namespace hearth::testing
