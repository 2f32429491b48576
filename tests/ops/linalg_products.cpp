// Least squares, pseudoinverses, norms, powers, the exponential, and tensors as matrices.
#include <gtest/gtest.h>

#include <limits>

#include "hearth/autocast.h"
#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/large.h"
#include "tests/ops/linalg.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::optional<double> kNone;

Case unit(std::vector<int64_t> sizes) { return {{sizes, Draw::kUnit}}; }

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
         linalg_lstsq(ones({3, 2}), ones({3, 1}), {}, "gels");
       },
       "torch.linalg.lstsq: The least squares solution could not be computed because the input "
       "matrix does not have full rank (error code: 2)."},
      {[] { linalg_lstsq(eye(2, kHalf), eye(2, kHalf)); },
       "This function doesn't handle types other than float and double"}};
  return row;
}

/// The norms of a matrix.
double norm_reference(const Mat& x, double ord) {
  const SvdReference svd(x);
  if (ord == 2) return svd.s.front();
  if (ord == -2) return svd.s.back();
  const Mat a = std::isinf(ord) ? x.transposed() : x;
  double result = ord > 0 ? 0 : kInf;
  for (int64_t j = 0; j < a.columns; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < a.rows; ++i) sum += std::fabs(a(i, j));
    result = ord > 0 ? std::max(result, sum) : std::min(result, sum);
  }
  return result;
}
double nuclear_reference(const Mat& x) {
  double sum = 0;
  for (const double s : SvdReference(x).s) sum += s;
  return sum;
}
double frobenius_reference(const Mat& x) {
  double sum = 0;
  for (const double v : x.values) sum += v * v;
  return std::sqrt(sum);
}

const std::vector<double> kOrders = {1, -1, 2, -2, kInf, -kInf};

Row norm_row() {
  Row row = matrix_row(
      "linalg_matrix_norm", {"linalg_matrix_norm", "nuclear_norm"},
      {unit({3, 3}), unit({4, 2}), unit({2, 2, 3})},
      [](const Tensors& in) {
        const Tensor a = regular(in[0]);
        Tensors results;
        for (const double ord : kOrders) results.push_back(linalg_matrix_norm(a, ord));
        results.push_back(linalg_matrix_norm(a));
        results.push_back(linalg_matrix_norm(a.mT(), "nuc", {-1, -2}));
        results.push_back(nuclear_norm(a, {-2, -1}));
        results.push_back(frobenius_norm(a, {-2, -1}));
        return results;
      },
      [](const Arrays& in) {
        const auto each = [&](const std::function<double(const Mat&)>& f) {
          return each_matrix(in[0], -1, -1, [&](const Mat& x) { return scalar_of(f(regular(x))); });
        };
        Arrays results;
        for (const double ord : kOrders)
          results.push_back(each([ord](const Mat& x) { return norm_reference(x, ord); }));
        results.push_back(each(frobenius_reference));
        results.push_back(each(nuclear_reference));
        results.push_back(each(nuclear_reference));
        results.push_back(each(frobenius_reference));
        return results;
      });
  row.gradient_slack = 1000;
  const auto refusal = [](std::function<void(const Tensor&)> call, std::string text) {
    return Refusal{[=] { call(ones({2, 3})); }, std::move(text)};
  };
  row.refusals = {
      refusal([](const Tensor& x) { linalg_matrix_norm(x, 3); },
              "linalg.matrix_norm: Order 3 not supported."),
      refusal([](const Tensor& x) { linalg_matrix_norm(x, "x"); },
              "linalg.matrix_norm: Order x not supported."),
      refusal([](const Tensor& x) { linalg_matrix_norm(x, 1, {0}); },
              "linalg.matrix_norm: dim must be a 2-tuple. Got 0"),
      refusal(
          [](const Tensor& x) {
            linalg_matrix_norm(x, 1, {0, 0});
          },
          "linalg.matrix_norm: dims must be different. Got (0, 0)"),
      refusal(
          [](const Tensor& x) {
            linalg_matrix_norm(x, 2, {-2, -1}, false, kHalf);
          },
          "linalg.matrix_norm: the dtype of the input (Float) should be convertible without "
          "narrowing to the specified dtype (Half)"),
      refusal([](const Tensor& x) { linalg_matrix_norm(x.to(kHalf), "nuc"); },
              "linalg.matrix_norm: Low precision dtypes not supported. Got Half"),
      refusal(
          [](const Tensor& x) {
            linalg_norm(x, 2, IntArrayRef{0, 1, 2});
          },
          "linalg.norm: If dim is specified, it must be of length 1 or 2. Got [0, 1, 2]"),
      refusal([](const Tensor& x) { linalg_norm(x.unsqueeze(0), 2); },
              "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
              "3D."),
      refusal(
          [](const Tensor& x) {
            frobenius_norm(x, {0, 1, 2});
          },
          "Expected at most 2 dimensions, but got 3 dimensions instead.")};
  return row;
}

Row cond_row() {
  Row row = matrix_row(
      "linalg_cond", {"linalg_cond"}, {unit({3, 3}), unit({2, 2, 2})},
      [](const Tensors& in) {
        const Tensor a = regular(in[0]);
        Tensors results{linalg_cond(a)};
        for (const double ord : kOrders) results.push_back(linalg_cond(a, ord));
        results.push_back(linalg_cond(a, "fro"));
        results.push_back(linalg_cond(a, "nuc"));
        return results;
      },
      [](const Arrays& in) {
        const auto each = [&](const std::function<double(const Mat&)>& norm) {
          return each_matrix(in[0], -1, -1, [&](const Mat& x) {
            return scalar_of(norm(regular(x)) * norm(inverse_of(regular(x))));
          });
        };
        Arrays results{each([](const Mat& x) { return norm_reference(x, 2); })};
        for (const double ord : kOrders)
          results.push_back(each([ord](const Mat& x) { return norm_reference(x, ord); }));
        results.push_back(each(frobenius_reference));
        results.push_back(each(nuclear_reference));
        return results;
      });
  row.slack = 100;
  row.gradient_slack = 3000;
  row.refusals = {
      {[] { linalg_cond(eye(2), 3); }, "linalg.cond got an invalid norm type: 3"},
      {[] { linalg_cond(ones({2})); },
       "linalg.cond: The input tensor must have at least 2 dimensions."},
      {[] {
         linalg_cond(ones({2, 3}), 1);
       },
       "linalg.cond(ord=1): A must be batches of square matrices, but they are 2 by 3 matrices"}};
  return row;
}

/// The exponential as the series of x / 2^10, squared ten times.
Mat exponential_of(const Mat& x) {
  const Mat small = x.map([](double v) { return v / 1024; });
  Mat sum = Mat::identity(x.rows), term = sum;
  for (int k = 1; k < 20; ++k) {
    term = (term * small).map([k](double v) { return v / k; });
    for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += term.values[i];
  }
  for (int k = 0; k < 10; ++k) sum = sum * sum;
  return sum;
}

Row exponential_row() {
  Row row = matrix_row(
      "linalg_matrix_exp", {"linalg_matrix_exp"},
      {unit({3, 3}), unit({2, 4, 4}), {{{2, 2}}}, unit({0, 0})},
      [](const Tensors& in) {
        return Tensors{in[0].matrix_exp(), linalg_matrix_exp(in[0])};
      },
      [](const Arrays& in) {
        const int64_t n = in[0].sizes.back();
        return Arrays(2, each_matrix(in[0], n, n, exponential_of));
      });
  row.refusals = {{[] {
                     linalg_matrix_exp(ones({2, 3}));
                   },
                   "linalg.matrix_exp: A must be batches of square matrices, but they are 2 by 3 "
                   "matrices"}};
  return row;
}

Row vecdot_row() {
  Row row = matrix_row(
      "linalg_vecdot", {"linalg_vecdot"}, {{{{2, 3}}, {{3}}}, {{{2, 3}}, {{2, 3}}}},
      [](const Tensors& in) { return Tensors{linalg_vecdot(in[0], in[1])}; },
      [](const Arrays& in) {
        const Array products = map({in[0], in[1]}, [](const double* x) { return x[0] * x[1]; });
        return Arrays{build({products.sizes[0]}, [&](const Position& p) {
          double sum = 0;
          for (int64_t k = 0; k < products.sizes[1]; ++k) sum += at(products, {p[0], k});
          return sum;
        })};
      });
  row.dtypes = dtypes::kFloating;
  row.out = [](Tensor& out, const Tensors& in) { linalg_vecdot_out(out, in[0], in[1]); };
  row.refusals = {{[] { linalg_vecdot(ones({2}, kLong), ones({2}, kLong)); },
                   "linalg.vecdot: Expected a floating point or complex tensor as input. Got Long"},
                  {[] { linalg_vecdot(ones({2}), ones({2}, kDouble)); },
                   "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
                   "Float and y of type Double instead"}};
  return row;
}

/// A tensor [2, 3, 6] as a matrix with 4 on its diagonal.
Tensor as_map(const Tensor& x) { return regular(x.reshape({6, 6})).reshape({2, 3, 6}); }

Row tensor_row() {
  Row row = matrix_row(
      "linalg_tensorinv", {"linalg_tensorinv", "linalg_tensorsolve"},
      {{{{2, 3, 6}, Draw::kUnit}, {{2, 3}}}},
      [](const Tensors& in) {
        const Tensor a = as_map(in[0]), turned = a.movedim(2, 0);
        return Tensors{linalg_tensorinv(a), linalg_tensorsolve(a, in[1]),
                       linalg_tensorsolve(turned, in[1], 0)};
      },
      [](const Arrays& in) {
        Mat a(6, 6), b(6, 1);
        a.values = in[0].values;
        b.values = in[1].values;
        const Mat inverse = inverse_of(regular(a));
        const Array x = array_of({}, 6, -1, {inverse * b});
        return Arrays{{{6, 2, 3}, inverse.values}, x, x};
      });
  row.slack = 200;
  row.gradient_slack = 200;
  row.refusals = {
      {[] {
         linalg_tensorinv(ones({2, 3, 5}));
       },
       "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
       "but got 5 != 6"},
      {[] {
         linalg_tensorinv(ones({2, 2}), 0);
       },
       "Expected a strictly positive integer for 'ind', but got 0"},
      {[] {
         linalg_tensorsolve(ones({2, 3, 5}), ones({2, 3}));
       },
       "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
       "prod(self.shape[:other.ndim]), but got 5 != 6"}};
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
    const auto all = [&](double value) {
      return each_matrix(in[0], -1, -1, [=](const Mat&) { return scalar_of(value); });
    };
    return Arrays{all(rank), all(0)};
  };
  row.refusals = {
      {[] { linalg_matrix_rank(ones({3})); },
       "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."},
      {[] { linalg_matrix_rank(eye(2, kHalf)); },
       "This function doesn't handle types other than float and double"}};
  return row;
}

const Register registered[] = {
    Register(pinv_row()),         Register(lstsq_row("gels")),  Register(lstsq_row("gelsy")),
    Register(lstsq_row("gelsd")), Register(lstsq_row("gelss")), Register(norm_row()),
    Register(cond_row()),         Register(exponential_row()),  Register(vecdot_row()),
    Register(tensor_row()),       Register(rank_row())};

/// Batches that are large enough for several threads: residuals are orthogonal to the columns.
LargeCase many_lines(ScalarType dtype) {
  const Large x = large({200, 40, 5}, 8), y = large({200, 40, 2}, 9);
  const Tensor a = x.tensor(dtype), b = y.tensor(dtype);
  return {[=] {
            const Tensor rest = a.matmul(std::get<0>(linalg_lstsq(a, b))).sub(b);
            return Tensors{a.mT().matmul(rest)};
          },
          {Array{{200, 5, 2}, Numbers(2000)}}};
}
const RegisterLarge large_registered({"linalg_lstsq", {"LeastSquares"}, many_lines, 100});

std::vector<int64_t> sizes_of(const Tensor& t) { return t.sizes().vec(); }
using Sizes = std::vector<int64_t>;

/// Which results each driver computes; figures of PyTorch 2.15.
TEST(LinalgProducts, ResultsOfLeastSquares) {
  const Tensor a = eye(3, 2, kDouble).expand({2, 3, 2}), b = ones({2, 3}, kDouble);
  for (const std::string driver : {"gels", "gelsy", "gelsd", "gelss"}) {
    const auto [x, residuals, rank, values] = linalg_lstsq(a, b, {}, driver);
    const bool gels = driver == "gels", gelsy = driver == "gelsy";
    EXPECT_EQ(sizes_of(x), (Sizes{2, 2})) << driver;
    EXPECT_EQ(sizes_of(residuals), gelsy ? Sizes{0} : (Sizes{2, 1})) << driver;
    EXPECT_EQ(sizes_of(rank), gels ? Sizes{0} : Sizes{2}) << driver;
    EXPECT_EQ(sizes_of(values), gels || gelsy ? Sizes{0} : (Sizes{2, 2})) << driver;
    if (!gelsy) {
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

TEST(LinalgProducts, DeficientMatrices) {
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

TEST(LinalgProducts, ConditionOfSingularMatrices) {
  const Tensor zero = zeros({2, 2});
  EXPECT_EQ(linalg_cond(zero, 1).item<float>(), kInf);
  EXPECT_EQ(linalg_cond(zero, "fro").item<float>(), kInf);
  EXPECT_TRUE(std::isnan(linalg_cond(zero).item<float>()));
  EXPECT_EQ(linalg_cond(empty({2, 0, 0}), 1).sum().item<float>(), 0);
}

TEST(LinalgProducts, NormsOfDimensions) {
  const Tensor x = large({2, 3, 4}, 2).tensor(kDouble);
  EXPECT_EQ(sizes_of(linalg_matrix_norm(x, 1, {2, 0}, true)), (Sizes{1, 3, 1}));
  EXPECT_TRUE(
      linalg_matrix_norm(x, 1, {2, 0}).allclose(linalg_matrix_norm(x.permute({1, 2, 0}), 1)));
  EXPECT_TRUE(linalg_matrix_norm(x, "nuc", {2, 0}, true)
                  .squeeze()
                  .allclose(linalg_matrix_norm(x.permute({1, 2, 0}), "nuc")));
  EXPECT_TRUE(linalg_norm(x).allclose(x.norm()));
  EXPECT_TRUE(linalg_norm(x[0], kInf).allclose(linalg_matrix_norm(x[0], kInf)));
  EXPECT_TRUE(linalg_norm(x, 3, 1).allclose(linalg_vector_norm(x, 3, 1)));
  EXPECT_TRUE(linalg_norm(x[0], "nuc").allclose(nuclear_norm(x[0])));
  EXPECT_EQ(linalg_matrix_norm(x.to(kFloat), 2, {-2, -1}, false, kDouble).scalar_type(), kDouble);
  EXPECT_EQ(linalg_matrix_norm(empty({0, 3}), 2).item<float>(), 0);
  EXPECT_EQ(linalg_matrix_norm(empty({3, 0}), 1).item<float>(), 0);
}

TEST(LinalgProducts, Chains) {
  const Tensor a = large({5, 30}, 1).tensor(kDouble), b = large({30, 2}, 2).tensor(kDouble),
               c = large({2, 20}, 3).tensor(kDouble), v = large({20}, 4).tensor(kDouble);
  const Tensor wanted = a.matmul(b).matmul(c);
  EXPECT_TRUE(linalg_multi_dot({a, b, c}).allclose(wanted));
  EXPECT_TRUE(chain_matmul({a, b, c}).allclose(wanted));
  EXPECT_TRUE(linalg_multi_dot({a, b, c, v}).allclose(wanted.matmul(v)));
  EXPECT_EQ(linalg_multi_dot({v, v}).dim(), 0);
  EXPECT_ERROR(linalg_multi_dot({v}), "multi_dot(): expected at least 2 tensors but got 1");
  EXPECT_ERROR(linalg_multi_dot({a, c}),
               "multi_dot(): tensors 0 and 1 with shapes [5, 30] and [2, 20] cannot be multiplied");
  EXPECT_ERROR(linalg_multi_dot({a, v, c}), "multi_dot(): tensor 1 must be 2D but got 1D");
  EXPECT_ERROR(linalg_multi_dot({a, b.to(kFloat)}),
               "multi_dot(): all tensors must have be the same dtype but tensor 0 is double and "
               "tensor 1 float");
  EXPECT_ERROR(chain_matmul({a, v}), "Tensor dimension is 1, expected 2 instead.");
}

TEST(LinalgProducts, OtherNames) {
  const Tensor x = tensor({1, 2, 3}, kLong), m = large({2, 3, 3}, 1).tensor(kDouble);
  EXPECT_TRUE(
      linalg_vander(x, 4).equal(tensor({1, 1, 1, 1, 1, 2, 4, 8, 1, 3, 9, 27}, kLong).view({3, 4})));
  EXPECT_EQ(sizes_of(linalg_vander(m)), (Sizes{2, 3, 3, 3}));
  EXPECT_ERROR(linalg_vander(x, 1), "N must be greater than 1.");
  EXPECT_ERROR(linalg_vander(x.to(kHalf)),
               "linalg.vander supports floating point, complex, and "
               "integer tensors, but got Half");
  EXPECT_TRUE(linalg_diagonal(m).equal(m.diagonal(0, 1, 2)));
  EXPECT_TRUE(linalg_matmul(m, m).equal(m.matmul(m)));
  EXPECT_TRUE(linalg_matrix_power(m, 3).allclose(m.matmul(m).matmul(m)));
  EXPECT_TRUE(linalg_matrix_power(m, -2).allclose(linalg_inv(m.matmul(m))));
  const Tensor big = tensor({30., 1., 0., -40.}, kDouble).view({2, 2}).matrix_exp();
  EXPECT_NEAR(big[0][0].item<double>() / std::exp(30.0), 1, 1e-12);
  EXPECT_TRUE(full({2, 2}, kInf).matrix_exp().isnan().any().item<bool>());
  EXPECT_EQ(eye(2, kBFloat16).matrix_exp().scalar_type(), kBFloat16);
  const Tensor exact = m[0].to(kFloat).matrix_exp();
  const AutocastMode autocast(kCPU, kBFloat16);
  EXPECT_TRUE(m[0].to(kFloat).matrix_exp().equal(exact));
}

}  // namespace
}  // namespace hearth::testing
