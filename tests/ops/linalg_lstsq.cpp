// Least squares, pseudoinverses and ranks.
#include <gtest/gtest.h>

#include <limits>

#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/ops/linalg.h"

namespace hearth::testing {
namespace {

constexpr std::optional<double> kNone;

/// The pseudoinverse of a matrix of full rank.
Mat pinv_of(const Mat& a) {
  const Mat t = a.transposed();
  return a.rows >= a.columns ? inverse_of(t * a) * t : t * inverse_of(a * t);
}

Row pinv_row() {
  Row row = matrix_row(
      "linalg_pinv", {"linalg_pinv", "_linalg_pinv", "pinverse"},
      {unit({3, 3}), unit({4, 2}), unit({2, 2, 3})},
      [](const Tensors& in) {
        const Tensor a = regular(in[0]);
        return Tensors{linalg_pinv(a), a.pinverse(), linalg_pinv(a, 1e-6)};
      },
      [](const Arrays& in) {
        const int64_t m = in[0].sizes[in[0].sizes.size() - 2], n = in[0].sizes.back();
        return Arrays(3,
                      each_matrix(in[0], n, m, [](const Mat& x) { return pinv_of(regular(x)); }));
      });
  row.slack = 100;
  row.gradient_slack = 100;
  row.out = [](Tensor& out, const Tensors& in) { linalg_pinv_out(out, regular(in[0])); };
  row.refusals = {{[] { linalg_pinv(ones({3})); },
                   "linalg.pinv(Float{[3]}): expected a tensor with 2 or more dimensions of float, "
                   "double, cfloat or cdouble types"},
                  {[] {
                     linalg_pinv(ones({2, 3}), kNone, kNone, true);
                   },
                   "linalg.eigh: A must be batches of square matrices, but they are 2 by 3 "
                   "matrices"}};
  return row;
}

Row lstsq_row(std::string driver) {
  Row row = matrix_row(
      "linalg_lstsq_" + driver, {"linalg_lstsq", "_linalg_lstsq"},
      {{{{4, 2}, Draw::kUnit}, {{4, 3}}},
       {{{2, 3}, Draw::kUnit}, {{2, 2}}},
       {{{2, 3, 3}, Draw::kUnit}, {{2, 3, 1}}}},
      [driver](const Tensors& in) {
        return Tensors{std::get<0>(linalg_lstsq(regular(in[0]), in[1], {}, driver))};
      },
      [](const Arrays& in) {
        const std::vector<Mat> a = matrices_of(in[0]), b = matrices_of(in[1]);
        std::vector<Mat> x;
        for (size_t i = 0; i < a.size(); ++i) x.push_back(pinv_of(regular(a[i])) * b[i]);
        return Arrays{array_of(batch_sizes(in[0]), x[0].rows, x[0].columns, x)};
      });
  row.slack = 200;
  row.gradient_slack = 200;
  row.refusals = {
      {[] {
         linalg_lstsq(ones({3, 2}), ones({2, 2}));
       },
       "torch.linalg.lstsq: input.size(-2) should match other.size(-2)"},
      {[] { linalg_lstsq(eye(2), eye(2), {}, "x"); },
       "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"},
      {[] {
         linalg_lstsq(tensor({{1.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}}), ones({3, 1}), {}, "gels");
       },
       "torch.linalg.lstsq: The least squares solution could not be computed because the input "
       "matrix does not have full rank (error code: 2)."},
      {[] { linalg_lstsq(eye(2, kHalf), eye(2, kHalf)); },
       "This function doesn't handle types other than float and double"}};
  return row;
}

Row rank_row() {
  Row row;
  row.name = "linalg_matrix_rank";
  row.covers = {"linalg_matrix_rank"};
  row.cases = {unit({3, 3}), unit({2, 4, 2})};
  row.dtypes = dtypes::kFloatAndDouble;
  row.results = {Result::kLong};
  row.orders = 0;
  row.call = [](const Tensors& in) {
    return Tensors{linalg_matrix_rank(regular(in[0])), linalg_matrix_rank(in[0], 1e6)};
  };
  row.reference = [](const Arrays& in) {
    const double rank = double(std::min(in[0].sizes[in[0].sizes.size() - 2], in[0].sizes.back()));
    const auto each = [&](double value) {
      return each_matrix(in[0], -1, -1, [=](const Mat&) { return scalar_of(value); });
    };
    return Arrays{each(rank), each(0)};
  };
  row.refusals = {
      {[] { linalg_matrix_rank(ones({3})); },
       "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."},
      {[] { linalg_matrix_rank(eye(2, kHalf)); },
       "This function doesn't handle types other than float and double"}};
  return row;
}

const Register registered_linalg_lstsq[] = {
    Register(pinv_row()),         Register(lstsq_row("gels")),  Register(lstsq_row("gelsy")),
    Register(lstsq_row("gelsd")), Register(lstsq_row("gelss")), Register(rank_row())};

/// Batches large enough for several threads: residuals are orthogonal to the columns of A.
LargeCase many_lines(ScalarType dtype) {
  const Large x = large({200, 40, 5}, 8), y = large({200, 40, 2}, 9);
  const Tensor a = x.tensor(dtype), b = y.tensor(dtype);
  return {[=] {
            const Tensor residual = a.matmul(std::get<0>(linalg_lstsq(a, b))).sub(b);
            return Tensors{a.mT().matmul(residual)};
          },
          {Array{{200, 5, 2}, Numbers(2000)}}};
}
const RegisterLarge registered_large_linalg_lstsq(
    {"linalg_lstsq", {"LeastSquares"}, many_lines, 100});

using Sizes = std::vector<int64_t>;

/// The results that each driver computes, as in PyTorch 2.15.
TEST(LinalgLstsq, ResultsOfLeastSquares) {
  const Tensor a = eye(3, 2, kDouble).expand({2, 3, 2}), b = ones({2, 3}, kDouble);
  for (const std::string driver : {"gels", "gelsy", "gelsd", "gelss"}) {
    const auto [x, residuals, rank, values] = linalg_lstsq(a, b, {}, driver);
    const bool is_gels = driver == "gels", is_gelsy = driver == "gelsy";
    EXPECT_EQ(sizes_of(x), (Sizes{2, 2})) << driver;
    EXPECT_EQ(sizes_of(residuals), is_gelsy ? Sizes{0} : (Sizes{2, 1})) << driver;
    EXPECT_EQ(sizes_of(rank), is_gels ? Sizes{0} : Sizes{2}) << driver;
    EXPECT_EQ(sizes_of(values), is_gels || is_gelsy ? Sizes{0} : (Sizes{2, 2})) << driver;
    if (!is_gelsy) {
      EXPECT_TRUE(residuals.allclose(ones({2, 1}, kDouble))) << driver;
    }
  }
  const auto [x, residuals, rank, values] = linalg_lstsq(ones({3, 2}), ones({3, 1}), {}, "gelsd");
  EXPECT_TRUE(x.allclose(full({2, 1}, 0.5)));
  EXPECT_EQ(rank.item().toLong(), 1);
  EXPECT_EQ(sizes_of(residuals), Sizes{0});
  EXPECT_EQ(sizes_of(std::get<0>(linalg_lstsq(empty({0, 2}), empty({0, 3})))), (Sizes{2, 3}));
  EXPECT_EQ(sizes_of(std::get<0>(linalg_lstsq(ones({2, 0}), ones({2, 3})))), (Sizes{0, 3}));
}

TEST(LinalgLstsq, DeficientMatrices) {
  const Tensor a = tensor({1., 2., 2., 4.}, kDouble).view({2, 2}), p = linalg_pinv(a);
  EXPECT_TRUE(a.matmul(p).matmul(a).allclose(a));
  EXPECT_TRUE(p.allclose(a.mT().div(25)));
  EXPECT_TRUE(linalg_pinv(a, kNone, kNone, true).allclose(p));
  EXPECT_EQ(linalg_matrix_rank(a).item().toLong(), 1);
  EXPECT_EQ(linalg_matrix_rank(a, kNone, kNone, true).item().toLong(), 1);
  EXPECT_EQ(linalg_matrix_rank(empty({0, 3})).item().toLong(), 0);
  EXPECT_EQ(sizes_of(linalg_pinv(empty({2, 0, 3}))), (Sizes{2, 3, 0}));
  const Tensor several = linalg_pinv(a, tensor({1., 9.}, kDouble), std::optional<Tensor>());
  EXPECT_EQ(sizes_of(several), (Sizes{2, 2, 2}));
  EXPECT_EQ(several[1].abs().sum().item<double>(), 0);
}

}  // namespace
}  // namespace hearth::testing
