#include <gtest/gtest.h>

#include <cmath>

#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

constexpr int64_t kIgnored = 1;

int class_dim(const Array& scores) { return scores.sizes.size() == 1 ? 0 : 1; }

/// The position, in the scores, of the class `label` of the target at p.
Position with_class(Position p, int dim, int64_t label) {
  p.insert(p.begin() + dim, label);
  return p;
}

/// The losses, their weighted mean and their sum.
Arrays nll_reference(const Arrays& in, int64_t ignored) {
  double sum = 0, total_weight = 0;
  const int dim = class_dim(in[0]);
  const Array losses = build(in[1].sizes, [&](const Position& p) {
    const int64_t label = int64_t(at(in[1], p));
    if (label == ignored) return 0.0;
    const double weight = in[2].values.empty() ? 1 : in[2].values[size_t(label)];
    total_weight += weight;
    sum -= weight * at(in[0], with_class(p, dim, label));
    return -weight * at(in[0], with_class(p, dim, label));
  });
  return {losses, Array{{}, {sum / total_weight}}, Array{{}, {sum}}};
}

Case nll_case(std::vector<int64_t> sizes, bool weighted) {
  std::vector<int64_t> target_sizes = sizes;
  const size_t dim = sizes.size() == 1 ? 0 : 1;
  const int64_t classes = sizes[dim];
  target_sizes.erase(target_sizes.begin() + int64_t(dim));
  const Input weight{{weighted ? classes : 0}, Draw::kPositive, 0, !weighted, false, true};
  return {{std::move(sizes)}, {std::move(target_sizes), Draw::kIndex, classes}, weight};
}

Row nll_row() {
  Row row;
  row.name = "nll_loss";
  row.covers = {"nll_loss", "nll_loss_backward"};
  row.cases = {nll_case({4, 5}, true), nll_case({9, 3}, false), nll_case({3, 4, 2}, true),
               nll_case({2, 3, 4, 2}, true)};
  row.call = [](const Tensors& in) {
    const auto loss = [&](int64_t r) { return nll_loss_nd(in[0], in[1], in[2], r, kIgnored); };
    return Tensors{loss(Reduction::None), loss(Reduction::Mean), loss(Reduction::Sum)};
  };
  row.reference = [](const Arrays& in) { return nll_reference(in, kIgnored); };
  row.slack = 8;
  row.refusals = {
      {[] {
         nll_loss(ones({3, 5}), zeros({2}, kLong));
       },
       "size mismatch (got input: [3, 5], target: [2])"},
      {[] {
         nll_loss(ones({3, 5}), zeros({3}, kInt));
       },
       "expected target dtype to be Long or Byte, but got Int"},
      {[] {
         nll_loss(ones({3, 5}), zeros({3}, kLong), ones({4}));
       },
       "weight tensor should be defined either for all 5 classes or no classes but got weight "
       "tensor of shape: [4]"},
      {[] {
         nll_loss(ones({3, 5}, kDouble), zeros({3}, kLong), ones({5}));
       },
       "expected scalar type Double but found Float"},
      {[] {
         nll_loss_nd(ones({3, 5, 2}), zeros({3, 3}, kLong));
       },
       "Expected target size [3, 2], got [3, 3]"},
      {[] {
         nll_loss2d(ones({3, 5, 2, 2}), zeros({3, 3, 2}, kLong));
       },
       "size mismatch (got input: [3, 5, 2, 2] , target: [3, 3, 2]"}};
  for (const Device device : devices())
    for (int64_t label : {7, -1})
      row.refusals.push_back(refusal_on(
          device,
          [label](Device where) {
            nll_loss(ones({3, 5}).to(where, kFloat), full({3}, label, kLong).to(where, kLong));
          },
          "Target " + std::to_string(label) + " is out of bounds."));
  return row;
}

/// The summed cross entropy; class indices count as probabilities of 0 and 1.
Arrays cross_entropy_reference(const Arrays& in, double smoothing) {
  const Array& x = in[0];
  const int64_t classes = x.sizes[1];
  const Array logs = build(x.sizes, [&](const Position& p) {
    double sum = 0;
    Position q = p;
    for (q[1] = 0; q[1] < classes; ++q[1]) sum += std::exp(at(x, q));
    return at(x, p) - std::log(sum);
  });
  const auto target_of = [&](const Position& p, int64_t c) {
    const bool has_probabilities = in[1].sizes == x.sizes;
    Position q = p;
    q[1] = c;
    if (has_probabilities) return at(in[1], q);
    q.erase(q.begin() + 1);
    return double(int64_t(at(in[1], q)) == c);
  };
  double sum = 0;
  for (int64_t i = 0; i < int64_t(logs.values.size()); ++i) {
    const Position p = position_of(i, x.sizes);
    const double probability = target_of(p, p[1]) * (1 - smoothing) + smoothing / double(classes);
    sum -= probability * in[2].values[size_t(p[1])] * at(logs, p);
  }
  return {Array{{}, {sum}}};
}

Row cross_entropy_row(std::string name, Case inputs, double smoothing) {
  Row row;
  row.name = std::move(name);
  row.covers = {"nll_loss", "cross_entropy_loss"};  // autocast follows the policy of the first
  row.cases = {std::move(inputs)};
  row.call = [smoothing](const Tensors& in) {
    return Tensors{cross_entropy_loss(in[0], in[1], in[2], Reduction::Sum, -100, smoothing)};
  };
  row.reference = [smoothing](const Arrays& in) { return cross_entropy_reference(in, smoothing); };
  row.slack = 8;
  return row;
}

const Input kWeights{{3}, Draw::kPositive, 0, false, false, true};

const Register registered_nll_loss[] = {
    Register(nll_row()),
    Register(cross_entropy_row("cross_entropy", {{{4, 3}}, {{4}, Draw::kIndex, 3}, kWeights}, 0)),
    Register(cross_entropy_row("cross_entropy_smoothed",
                               {{{2, 3, 2}}, {{2, 2}, Draw::kIndex, 3}, kWeights}, 0.2)),
    Register(cross_entropy_row("cross_entropy_probabilities",
                               {{{2, 3, 2}}, {{2, 3, 2}, Draw::kPositive}, kWeights}, 0.1))};

TEST(NllLoss, MeanOverNoTargetsIsNaN) {
  const Tensor none = full({3}, -100, kLong), x = randn({3, 5}).requires_grad_();
  EXPECT_TRUE(nll_loss(x, none).isnan().item<bool>());
  EXPECT_EQ(nll_loss(x, none, {}, Reduction::Sum).item<float>(), 0);
  EXPECT_TRUE(nll_loss(ones({0, 5}), zeros({0}, kLong)).isnan().item<bool>());
}

TEST(NllLoss, AcceptsVectorsAndByteTargets) {
  EXPECT_EQ(nll_loss(ones({5}), full({}, 2, kLong)).item<float>(), -1);
  EXPECT_EQ(nll_loss(ones({3, 5}), zeros({3}, kByte)).item<float>(), -1);
}

TEST(NllLoss, MeanOfASmoothedLossSkipsIgnoredTargets) {
  const Tensor x = randn({4, 3}, kDouble), target = arange(4, kLong).fmod(3);
  const Tensor kept =
      cross_entropy_loss(x.slice(0, 0, 2), target.slice(0, 0, 2), {}, Reduction::Mean, -100, 0.3);
  Tensor ignoring = target.clone();
  ignoring.slice(0, 2).fill_(-100);
  EXPECT_TRUE(cross_entropy_loss(x, ignoring, {}, Reduction::Mean, -100, 0.3).allclose(kept));
}

}  // namespace
}  // namespace hearth::testing
