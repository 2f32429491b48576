#pragma once

// References for functions of matrices, by textbook algorithms in double, and helpers for rows of
// such functions.

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "hearth/operators.h"
#include "tests/support/op_table.h"

namespace hearth::testing {

/// One input with elements between -0.9 and 0.9.
inline Case unit(std::vector<int64_t> sizes) { return {{std::move(sizes), Draw::kUnit}}; }

inline std::vector<int64_t> sizes_of(const Tensor& t) { return t.sizes().vec(); }

/// A matrix of doubles.
struct Mat {
  int64_t rows, columns;
  std::vector<double> values;

  Mat(int64_t m, int64_t n) : rows(m), columns(n), values(size_t(m * n)) {}
  static Mat identity(int64_t n) {
    Mat result(n, n);
    for (int64_t i = 0; i < n; ++i) result(i, i) = 1;
    return result;
  }
  double& operator()(int64_t i, int64_t j) { return values[size_t(i * columns + j)]; }
  double operator()(int64_t i, int64_t j) const { return values[size_t(i * columns + j)]; }
  Mat transposed() const {
    Mat result(columns, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) result(j, i) = (*this)(i, j);
    return result;
  }
  Mat map(const std::function<double(double)>& f) const {
    Mat result = *this;
    for (double& v : result.values) v = f(v);
    return result;
  }
};

inline Mat operator*(const Mat& a, const Mat& b) {
  Mat result(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.columns; ++k)
      for (int64_t j = 0; j < b.columns; ++j) result(i, j) += a(i, k) * b(k, j);
  return result;
}

/// P A = L U with row pivoting: `order` has the rows' order, `lu` has L below the diagonal and U on
/// and above it.
struct LuReference {
  Mat lu;
  std::vector<int64_t> order;
  double sign = 1;

  explicit LuReference(const Mat& a) : lu(a), order(size_t(a.rows)) {
    for (int64_t i = 0; i < a.rows; ++i) order[size_t(i)] = i;
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) step(k);
  }
  double det() const {
    double product = sign;
    for (int64_t i = 0; i < lu.rows; ++i) product *= lu(i, i);
    return product;
  }
  Mat solve(const Mat& b) const {
    const int64_t n = lu.rows;
    Mat x(n, b.columns);
    for (int64_t c = 0; c < b.columns; ++c) {
      for (int64_t i = 0; i < n; ++i) {
        x(i, c) = b(order[size_t(i)], c);
        for (int64_t j = 0; j < i; ++j) x(i, c) -= lu(i, j) * x(j, c);
      }
      for (int64_t i = n; i-- > 0;) {
        for (int64_t j = i + 1; j < n; ++j) x(i, c) -= lu(i, j) * x(j, c);
        x(i, c) /= lu(i, i);
      }
    }
    return x;
  }

 private:
  void step(int64_t k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < lu.rows; ++i)
      if (std::fabs(lu(i, k)) > std::fabs(lu(best, k))) best = i;
    if (best != k) {
      sign = -sign;
      std::swap(order[size_t(k)], order[size_t(best)]);
      for (int64_t j = 0; j < lu.columns; ++j) std::swap(lu(k, j), lu(best, j));
    }
    for (int64_t i = k + 1; i < lu.rows; ++i) {
      lu(i, k) /= lu(k, k);
      for (int64_t j = k + 1; j < lu.columns; ++j) lu(i, j) -= lu(i, k) * lu(k, j);
    }
  }
};

inline Mat inverse_of(const Mat& a) { return LuReference(a).solve(Mat::identity(a.rows)); }

/// L with L L^T = A.
inline Mat cholesky_of(const Mat& a) {
  Mat l(a.rows, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      double rest = a(i, j);
      for (int64_t k = 0; k < j; ++k) rest -= l(i, k) * l(j, k);
      l(i, j) = i == j ? std::sqrt(rest) : rest / l(j, j);
    }
  return l;
}

/// The complete Q and R by Householder reflections with LAPACK's signs.
struct QrReference {
  Mat q, r;

  explicit QrReference(const Mat& a) : q(Mat::identity(a.rows)), r(a) {
    // LAPACK does not reflect in the last row, where one element of the column is left.
    for (int64_t k = 0; k < std::min(a.rows - 1, a.columns); ++k) reflect(k);
  }

 private:
  void reflect(int64_t k) {
    std::vector<double> v(size_t(r.rows));
    double square = 0;
    for (int64_t i = k; i < r.rows; ++i) square += r(i, k) * r(i, k);
    const double length = r(k, k) > 0 ? -std::sqrt(square) : std::sqrt(square);
    double squared_norm = 0;
    for (int64_t i = k; i < r.rows; ++i) {
      v[size_t(i)] = r(i, k) - (i == k ? length : 0);
      squared_norm += v[size_t(i)] * v[size_t(i)];
    }
    apply(r, v, squared_norm, false);
    apply(q, v, squared_norm, true);
  }
  /// t = t - 2 v v^T t / squared_norm, or t = t - 2 t v v^T / squared_norm from the right.
  static void apply(Mat& t, const std::vector<double>& v, double squared_norm, bool right) {
    const int64_t lines = right ? t.rows : t.columns;
    for (int64_t c = 0; c < lines; ++c) {
      const auto element = [&](size_t i) -> double& {
        return right ? t(c, int64_t(i)) : t(int64_t(i), c);
      };
      double product = 0;
      for (size_t i = 0; i < v.size(); ++i) product += v[i] * element(i);
      for (size_t i = 0; i < v.size(); ++i) element(i) -= 2 * product / squared_norm * v[i];
    }
  }
};

/// Eigenvalues (rising) and eigenvectors (columns) of a symmetric matrix by Jacobi's rotations.
struct JacobiReference {
  Mat a, v;

  explicit JacobiReference(const Mat& matrix) : a(matrix), v(Mat::identity(matrix.rows)) {
    for (int sweep = 0; sweep < 30; ++sweep)
      for (int64_t p = 0; p < a.rows; ++p)
        for (int64_t q = p + 1; q < a.rows; ++q) rotate(p, q);
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = i + 1; j < a.rows; ++j)
        if (a(j, j) < a(i, i)) {
          std::swap(a(i, i), a(j, j));
          for (int64_t k = 0; k < a.rows; ++k) std::swap(v(k, i), v(k, j));
        }
  }
  double value(int64_t i) const { return a(i, i); }

 private:
  void rotate(int64_t p, int64_t q) {
    if (std::fabs(a(p, q)) < 1e-300) return;
    const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
    const double t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
    Mat rotation = Mat::identity(a.rows);
    rotation(p, p) = rotation(q, q) = 1 / std::sqrt(t * t + 1);
    rotation(p, q) = t * rotation(p, p);
    rotation(q, p) = -rotation(p, q);
    a = rotation.transposed() * a * rotation;
    v = v * rotation;
  }
};

/// Singular values (falling) and the reduced singular vectors of a matrix of full rank.
struct SvdReference {
  std::vector<double> s;
  Mat u, v;

  explicit SvdReference(const Mat& a) : u(0, 0), v(0, 0) {
    const bool is_wide = a.columns > a.rows;
    const Mat tall = is_wide ? a.transposed() : a;
    const JacobiReference jacobi(tall.transposed() * tall);
    const int64_t k = tall.columns;
    v = Mat(k, k);
    for (int64_t j = 0; j < k; ++j) {
      s.push_back(std::sqrt(std::max(jacobi.value(k - 1 - j), 0.0)));
      for (int64_t i = 0; i < k; ++i) v(i, j) = jacobi.v(i, k - 1 - j);
    }
    u = tall * v;
    for (int64_t i = 0; i < u.rows; ++i)
      for (int64_t j = 0; j < k; ++j) u(i, j) /= s[size_t(j)];
    if (is_wide) std::swap(u, v);
  }
};

/// The matrices of a batch in row-major order.
inline std::vector<Mat> matrices_of(const Array& array) {
  const size_t dims = array.sizes.size();
  const int64_t m = array.sizes[dims - 2], n = array.sizes[dims - 1], step = m * n;
  int64_t count = 1;
  for (size_t d = 0; d + 2 < dims; ++d) count *= array.sizes[d];
  std::vector<Mat> result(size_t(count), Mat(m, n));
  for (int64_t i = 0; i < count; ++i)
    std::copy_n(array.values.begin() + i * step, step, result[size_t(i)].values.begin());
  return result;
}

/// An array of matrices [batch..., rows, columns]; a dimension of -1 is left out.
inline Array array_of(std::vector<int64_t> batch, int64_t rows, int64_t columns,
                      const std::vector<Mat>& matrices) {
  Array result{std::move(batch), {}};
  for (const int64_t size : {rows, columns})
    if (size >= 0) result.sizes.push_back(size);
  for (const Mat& m : matrices)
    result.values.insert(result.values.end(), m.values.begin(), m.values.end());
  return result;
}

inline std::vector<int64_t> batch_sizes(const Array& array) {
  return {array.sizes.begin(), array.sizes.end() - 2};
}

/// Applies f to each matrix of an array; all results have the sizes [rows, columns].
inline Array each_matrix(const Array& array, int64_t rows, int64_t columns,
                         const std::function<Mat(const Mat&)>& f) {
  std::vector<Mat> results;
  for (const Mat& m : matrices_of(array)) results.push_back(f(m));
  return array_of(batch_sizes(array), rows, columns, results);
}

inline Mat scalar_of(double value) {
  Mat result(1, 1);
  result(0, 0) = value;
  return result;
}
inline Mat vector_of(const std::vector<double>& values) {
  Mat result(int64_t(values.size()), 1);
  result.values = values;
  return result;
}

/// x + 4 on the diagonal: far from singular, and positive definite once symmetric. The tensor is
/// made without matrix products, which autocast would change.
inline Tensor regular(const Tensor& x) {
  return x.add(eye(x.size(-2), x.size(-1), x.options().requires_grad(false)).mul(4));
}
inline Mat regular(const Mat& x) {
  Mat result = x;
  for (int64_t i = 0; i < std::min(x.rows, x.columns); ++i) result(i, i) += 4;
  return result;
}
/// x + 4 on the antidiagonal: far from singular, but factorizations swap rows.
inline Tensor swapping(const Tensor& x) {
  const TensorOptions options = x.options().requires_grad(false);
  return x.add(eye(x.size(-2), x.size(-1), options).flip({1}).mul(4));
}
inline Mat swapping(const Mat& x) {
  Mat result = x;
  for (int64_t i = 0; i < std::min(x.rows, x.columns); ++i) result(i, x.columns - 1 - i) += 4;
  return result;
}
/// (x + x^T) / 2 with 2, 6, 10, … added to the diagonal, so that all eigenvalues differ.
inline Tensor symmetric(const Tensor& x) {
  const Tensor steps = arange(1, 2 * x.size(-1) + 1, 2, x.options().requires_grad(false));
  return x.add(x.mT()).mul(0.5).add(steps.mul(2).diag_embed());
}
inline Mat symmetric(const Mat& x) {
  Mat result = x;
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.rows; ++j)
      result(i, j) = (x(i, j) + x(j, i)) / 2 + (i == j ? double(4 * i + 2) : 0);
  return result;
}

/// A row of the op table for a function of matrices in float32 and float64.
inline Row matrix_row(std::string name, std::vector<std::string> covers, std::vector<Case> cases,
                      std::function<Tensors(const Tensors&)> call,
                      std::function<Arrays(const Arrays&)> reference) {
  Row row;
  row.name = std::move(name);
  row.covers = std::move(covers);
  row.cases = std::move(cases);
  row.dtypes = dtypes::kFloatAndDouble;
  row.call = std::move(call);
  row.reference = std::move(reference);
  row.slack = 30;
  row.gradient_slack = 30;
  return row;
}

/// Square matrices of several sizes, with and without batch dimensions.
inline std::vector<Case> square_cases() {
  const auto x = [](std::vector<int64_t> sizes) { return Case{{sizes, Draw::kUnit}}; };
  return {x({3, 3}), x({2, 4, 4}), x({1, 1}), x({2, 1, 2, 2})};
}

}  // namespace hearth::testing
