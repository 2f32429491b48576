#include <gtest/gtest.h>

#include <cmath>

#include "hearth/operators.h"
#include "hearth/reduction.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// An entry of the op table for an op of `num_inputs` matrices of sizes [3, 4], which gives one
/// number for each matrix row.
Row rowwise_row(std::string name, int num_inputs, std::function<Tensor(const Tensors&)> op,
                std::function<double(const std::vector<std::vector<double>>&)> reference) {
  Row row;
  row.name = name;
  row.covers = {std::move(name)};
  // PyTorch computes pairwise_distance with norm, so the autocast policy of norm applies.
  if (row.name == "pairwise_distance") row.covers.insert(row.covers.begin(), "norm");
  row.cases = {Case(size_t(num_inputs), Input{{3, 4}})};
  row.call = [op](const Tensors& in) { return Tensors{op(in)}; };
  row.reference = [reference](const Arrays& in) {
    return Arrays{build({3}, [&](const Position& p) {
      std::vector<std::vector<double>> rows;
      for (const Array& a : in)
        rows.emplace_back(a.values.begin() + p[0] * 4, a.values.begin() + (p[0] + 1) * 4);
      return reference(rows);
    })};
  };
  row.slack = 10;
  return row;
}

using Vectors = std::vector<std::vector<double>>;

double cosine(const Vectors& x) {
  double dot = 0, a = 0, b = 0;
  for (size_t i = 0; i < 4; ++i) {
    dot += x[0][i] * x[1][i];
    a += x[0][i] * x[0][i];
    b += x[1][i] * x[1][i];
  }
  return dot / std::sqrt(a * b);
}

/// The Euclidean distance; PyTorch adds 1e-6 to every difference.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < 4; ++i) sum += std::pow(a[i] - b[i] + 1e-6, 2);
  return std::sqrt(sum);
}

/// The target `value` for each row of a tensor.
Tensor targets(const Tensor& like, int64_t value) {
  return full({like.size(0)}, value, TensorOptions(kLong).device(like.device()));
}

Row element_row(std::string name, Case inputs, std::function<Tensor(const Tensors&)> op,
                std::function<double(const double*)> reference) {
  Row row;
  row.name = name;
  row.covers = {std::move(name)};
  row.cases = {std::move(inputs)};
  row.call = [op](const Tensors& in) { return Tensors{op(in)}; };
  row.reference = [reference](const Arrays& in) { return Arrays{map(in, reference)}; };
  row.slack = 8;
  return row;
}

const Input kX{{7}}, kConstant{{7}, Draw::kNormal, 0, false, false, true};

const Register registered_distance[] = {
    Register(rowwise_row(
        "cosine_similarity", 2, [](const Tensors& in) { return cosine_similarity(in[0], in[1]); },
        cosine)),
    Register(rowwise_row(
        "pairwise_distance", 2, [](const Tensors& in) { return pairwise_distance(in[0], in[1]); },
        [](const Vectors& x) { return distance(x[0], x[1]); })),
    Register(rowwise_row(
        "triplet_margin_loss", 3,
        [](const Tensors& in) {
          return triplet_margin_loss(in[0], in[1], in[2], 1, 2, 1e-6, true, Reduction::None);
        },
        [](const Vectors& x) {
          const double far = std::fmin(distance(x[0], x[2]), distance(x[1], x[2]));
          return std::fmax(distance(x[0], x[1]) - far + 1, 0);
        })),
    Register(rowwise_row(
        "cosine_embedding_loss", 2,
        [](const Tensors& in) {
          return cosine_embedding_loss(in[0], in[1], targets(in[0], 1), 0, Reduction::None);
        },
        [](const Vectors& x) { return 1 - cosine(x); })),
    Register(element_row(
        "hinge_embedding_loss", {kX},
        [](const Tensors& in) {
          return hinge_embedding_loss(in[0], targets(in[0], -1), 1, Reduction::None);
        },
        [](const double* x) { return std::fmax(0, 1 - x[0]); })),
    Register(element_row(
        "margin_ranking_loss", {kX, kX, kConstant},
        [](const Tensors& in) {
          return margin_ranking_loss(in[0], in[1], in[2], 0.5, Reduction::None);
        },
        [](const double* x) { return std::fmax(0, -x[2] * (x[0] - x[1]) + 0.5); })),
    Register(element_row(
        "poisson_nll_loss", {kX, {{7}, Draw::kPositive}},
        [](const Tensors& in) {
          return poisson_nll_loss(in[0], in[1], true, true, 1e-8, Reduction::None);
        },
        [](const double* x) {
          const double t = x[1], extra = t * std::log(t) - t + 0.5 * std::log(2 * M_PI * t);
          return std::exp(x[0]) - t * x[0] + (t > 1 ? extra : 0);
        }))};

TEST(Distance, DtypesOfMixedInputs) {
  EXPECT_EQ(cosine_similarity(ones({}, kDouble), ones({3}), -1).scalar_type(), kDouble);
  const Tensor rate = full({2}, 0.5, kHalf), counts = tensor({1, 4}, kLong);
  const Tensor loss = poisson_nll_loss(rate, counts, true, true, 1e-8, Reduction::None);
  EXPECT_EQ(loss.scalar_type(), kHalf);
  EXPECT_NEAR(loss[1].item<double>(), std::exp(0.5) - 2 + 3.1572631,
              2e-3);  // 3.157…: Stirling's formula for log(4!)
}

TEST(Distance, OtherNormsAndTargets) {
  const Tensor a = zeros({1, 3}), b = arange(3, kFloat).reshape({1, 3});
  EXPECT_FLOAT_EQ(pairwise_distance(a, b, 1, 0).item<float>(), 3);
  EXPECT_FLOAT_EQ(pairwise_distance(a, b, INFINITY, 0).item<float>(), 2);
  EXPECT_NEAR(pairwise_distance(a, b, 3, 0).item<float>(), std::cbrt(9.0), 1e-5);
  EXPECT_EQ(cosine_similarity(a, b).item<float>(), 0);
  EXPECT_FLOAT_EQ(hinge_embedding_loss(b, ones({1, 3}, kLong)).item<float>(), 1);
  EXPECT_FLOAT_EQ(cosine_embedding_loss(b, b, full({1}, -1, kLong), 0.25).item<float>(), 0.75);
}

}  // namespace
}  // namespace hearth::testing
