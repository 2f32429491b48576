// Rows of the special functions; special_values.cpp has values at many arguments.
#include "tests/ops/large.h"
#include "tests/ops/pointwise_rows.h"

namespace hearth::testing {
namespace {

using namespace std::string_literals;

using Binary = Tensor (*)(const Tensor&, const Tensor&);
using BinaryOut = Tensor& (*)(Tensor&, const Tensor&, const Tensor&);
using UnaryOut = Tensor& (*)(Tensor&, const Tensor&);

// References, by the standard library's functions, sums, recurrences and bisection.

/// Zeta by its first terms and the Euler-Maclaurin formula.
double zeta_reference(double s, double q) {
  long double sum = 0, w = q;
  for (; w < 400; ++w) sum += std::pow(w, -static_cast<long double>(s));
  const long double power = std::pow(w, -static_cast<long double>(s));
  return double(sum + power * (w / (s - 1) + 0.5L + s / (12 * w)));
}
double digamma_reference(double x) {
  long double sum = 0, w = x;
  for (; w < 400; ++w) sum -= 1 / w;
  return double(sum + std::log(w) - 1 / (2 * w) - 1 / (12 * w * w));
}
double airy_reference(double x) {
  const double a = std::fabs(x), zeta = 2 * std::pow(a, 1.5) / 3, third = 1.0 / 3;
  if (x > 0) return std::sqrt(a / 3) / M_PI * std::cyl_bessel_k(third, zeta);
  const double j = std::cyl_bessel_j(third, zeta), y = std::cyl_neumann(third, zeta);
  return std::sqrt(a) / 3 * (j + (j - std::sqrt(3.0) * y) / 2);
}
/// The regularized lower incomplete gamma function by its power series.
double igamma_reference(double a, double x) {
  long double term = 1, sum = 1;
  for (int k = 1; k < 200; ++k) sum += term *= x / (a + k);
  return double(sum * std::pow(x, a) * std::exp(-x) / std::tgamma(a + 1));
}
double ndtr_reference(double x) { return std::erfc(-x * M_SQRT1_2) / 2; }
double ndtri_reference(double p) {
  if (!(p > 0 && p < 1)) return p == 0 || p == 1 ? std::copysign(INFINITY, p - 0.5) : NAN;
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i)
    (ndtr_reference((low + high) / 2) < p ? low : high) = (low + high) / 2;
  return low;
}
double i0_reference(double x) { return std::cyl_bessel_i(0, std::fabs(x)); }
double i1_reference(double x) { return std::copysign(std::cyl_bessel_i(1, std::fabs(x)), x); }

/// f(degree) for the degree trunc(n) of a polynomial; 0 for a negative degree.
template <class F>
double of_degree(double n, const F& f) {
  return std::trunc(n) < 0 ? 0 : f(static_cast<unsigned>(n));
}
/// The Chebyshev polynomials by their recurrence; `first` is the value of that of degree 1.
double chebyshev_reference(double x, double n, double first) {
  return of_degree(n, [&](unsigned degree) {
    double before = 1, p = first;
    for (unsigned k = 1; k < degree; ++k) {
      const double next = 2 * x * p - before;
      before = p;
      p = next;
    }
    return degree == 0 ? 1 : p;
  });
}
double hermite_he_reference(double x, double n) {
  return of_degree(
      n, [&](unsigned k) { return std::pow(2, -0.5 * k) * std::hermite(k, x * M_SQRT1_2); });
}

struct UnaryCase {
  const char* name;
  Tensor (*call)(const Tensor&);
  UnaryOut out;
  double (*reference)(double);
  Draw draw = Draw::kNormal;
  bool supports_halves = false;
  int orders = 2;
};

Row row_of(const UnaryCase& op) {
  Row row = unary_row(op.name, op.call, op.reference, op.draw);
  row.dtypes = op.supports_halves ? dtypes::kRealAndBool : dtypes::kRealAndBool & ~dtypes::kHalfs;
  row.results = {Result::kFloat};
  row.slack = 4;
  row.gradient_slack = 8;
  row.orders = op.orders;
  row.special_values = false;  // special_values.cpp tests them
  row.out = [op](Tensor& out, const Tensors& in) { op.out(out, in[0]); };
  return row;
}

#define UNARY(name, ...) \
  { #name, &name, &name##_out, __VA_ARGS__ }
const std::vector<UnaryCase>& unary_cases() {
  using D = double;
  static const std::vector<UnaryCase> all{
      UNARY(
          lgamma, [](D x) { return std::lgamma(x); }, Draw::kPositive, true),
      UNARY(digamma, &digamma_reference, Draw::kPositive, true),
      UNARY(i0, &i0_reference, Draw::kNormal, true),
      UNARY(
          sinc, [](D x) { return std::sin(M_PI * x) / (M_PI * x); }, Draw::kPositive, true),
      UNARY(
          special_entr, [](D x) { return -x * std::log(x); }, Draw::kPositive, true),
      UNARY(
          special_i0e, [](D x) { return i0_reference(x) * std::exp(-std::fabs(x)); }, Draw::kNormal,
          true),
      UNARY(special_i1, &i1_reference, Draw::kNormal, true),
      UNARY(
          special_i1e, [](D x) { return i1_reference(x) * std::exp(-std::fabs(x)); }, Draw::kNormal,
          true),
      UNARY(
          special_erfcx, [](D x) { return std::exp(x * x) * std::erfc(x); }, Draw::kUnit),
      UNARY(special_log_ndtr, [](D x) { return std::log(ndtr_reference(x)); }),
      UNARY(special_bessel_j0, [](D x) { return ::j0(x); }),
      UNARY(special_bessel_j1, [](D x) { return ::j1(x); }),
      UNARY(
          special_bessel_y0, [](D x) { return ::y0(x); }, Draw::kPositive),
      UNARY(
          special_bessel_y1, [](D x) { return ::y1(x); }, Draw::kPositive),
      UNARY(special_modified_bessel_i0, &i0_reference),
      UNARY(special_modified_bessel_i1, &i1_reference),
      UNARY(
          special_modified_bessel_k0, [](D x) { return std::cyl_bessel_k(0, x); }, Draw::kPositive),
      UNARY(
          special_modified_bessel_k1, [](D x) { return std::cyl_bessel_k(1, x); }, Draw::kPositive),
      UNARY(special_airy_ai, &airy_reference, Draw::kNormal, false, 0),
      UNARY(
          special_scaled_modified_bessel_k0,
          [](D x) { return std::exp(x) * std::cyl_bessel_k(0, x); }, Draw::kPositive, false, 0),
      UNARY(
          special_scaled_modified_bessel_k1,
          [](D x) { return std::exp(x) * std::cyl_bessel_k(1, x); }, Draw::kPositive, false, 0),
      UNARY(
          special_spherical_bessel_j0, [](D x) { return std::sin(x) / x; }, Draw::kPositive, false,
          0)};
  return all;
}
#undef UNARY

struct BinaryCase {
  const char* name;
  Binary call;
  BinaryOut out;
  double (*reference)(double, double);
  Draw first = Draw::kUnit, second = Draw::kSmall;
  bool supports_halves = false;
  int orders = 0;
  bool is_first_constant = false;  // input 0 has no derivative
};

Row row_of(const BinaryCase& op) {
  Row row = binary_row(op.name, op.call, op.reference, op.first);
  for (Case& inputs : row.cases) {
    inputs[0].constant = op.is_first_constant;
    inputs[1].draw = op.second;
  }
  row.dtypes = op.supports_halves ? dtypes::kFloating : dtypes::kFloatAndDouble;
  row.slack = 4;
  row.gradient_slack = 8;
  row.orders = op.orders;
  row.special_values = row.promotes = false;
  if (op.name == "nextafter"s)
    for (const char* dtype : {"", ".float", ".half", ".bfloat16"})
      row.covers.push_back("nextafter"s + dtype);
  row.out = [op](Tensor& out, const Tensors& in) { op.out(out, in[0], in[1]); };
  return row;
}

#define BINARY(name, ...) \
  { #name, static_cast < Binary>(&name), static_cast < BinaryOut>(&name##_out), __VA_ARGS__ }
const std::vector<BinaryCase>& binary_cases() {
  using D = double;
  const auto first = Draw::kPositive;
  static const std::vector<BinaryCase> all{
      BINARY(igamma, &igamma_reference, first, first, true, 2, true),
      BINARY(
          igammac, [](D a, D x) { return 1 - igamma_reference(a, x); }, first, first, true, 2,
          true),
      BINARY(
          nextafter, [](D a, D) { return a; }, Draw::kNormal, Draw::kPositive, true, 1),
      BINARY(special_zeta, &zeta_reference, Draw::kAboveOne, first, false, 2, true),
      BINARY(
          special_xlog1py, [](D a, D b) { return a * std::log1p(b); }, Draw::kNormal, first, true,
          2),
      BINARY(special_chebyshev_polynomial_t, [](D x, D n) { return chebyshev_reference(x, n, x); }),
      BINARY(special_chebyshev_polynomial_u,
             [](D x, D n) { return chebyshev_reference(x, n, 2 * x); }),
      BINARY(special_chebyshev_polynomial_v,
             [](D x, D n) { return chebyshev_reference(x, n, 2 * x - 1); }),
      BINARY(special_chebyshev_polynomial_w,
             [](D x, D n) { return chebyshev_reference(x, n, 2 * x + 1); }),
      BINARY(special_shifted_chebyshev_polynomial_t,
             [](D x, D n) { return chebyshev_reference(2 * x - 1, n, 2 * x - 1); }),
      BINARY(special_shifted_chebyshev_polynomial_u,
             [](D x, D n) { return chebyshev_reference(2 * x - 1, n, 4 * x - 2); }),
      BINARY(special_shifted_chebyshev_polynomial_v,
             [](D x, D n) { return chebyshev_reference(2 * x - 1, n, 4 * x - 3); }),
      BINARY(special_shifted_chebyshev_polynomial_w,
             [](D x, D n) { return chebyshev_reference(2 * x - 1, n, 4 * x - 1); }),
      BINARY(special_hermite_polynomial_h,
             [](D x, D n) { return of_degree(n, [x](unsigned k) { return std::hermite(k, x); }); }),
      BINARY(special_hermite_polynomial_he, &hermite_he_reference),
      BINARY(special_laguerre_polynomial_l,
             [](D x, D n) {
               return of_degree(n, [x](unsigned k) {
                 return k == 0 ? 1 : k == 1 ? 1 - x : (x * x - 4 * x + 2) / 2;
               });
             }),
      BINARY(special_legendre_polynomial_p, [](D x, D n) {
        return of_degree(n, [x](unsigned k) { return std::legendre(k, x); });
      })};
  return all;
}
#undef BINARY

/// Functions of probabilities or with a parameter besides the tensor.
std::vector<Row> other_rows() {
  std::vector<Row> rows{
      row_of(UnaryCase{"special_ndtri",
                       [](const Tensor& x) { return special_ndtri(x.mul(0.5).add(0.5)); },
                       [](Tensor& out, const Tensor& x) -> Tensor& {
                         return special_ndtri_out(out, x.mul(0.5).add(0.5));
                       },
                       [](double x) { return ndtri_reference(0.5 + 0.5 * x); }, Draw::kUnit}),
      row_of(
          UnaryCase{"logit", [](const Tensor& x) { return logit(x, 0.25); },
                    [](Tensor& out, const Tensor& x) -> Tensor& { return logit_out(out, x, 0.25); },
                    [](double x) {
                      const double p = std::min(std::max(x, 0.25), 0.75);
                      return std::log(p / (1 - p));
                    },
                    Draw::kUnit, true}),
      row_of(UnaryCase{
          "mvlgamma", [](const Tensor& x) { return mvlgamma(x.add(1), 3); },
          [](Tensor& out, const Tensor& x) -> Tensor& { return mvlgamma_out(out, x.add(1), 3); },
          [](double x) {
            return std::lgamma(x + 1) + std::lgamma(x + 0.5) + std::lgamma(x) +
                   1.5 * std::log(M_PI);
          },
          Draw::kPositive, true})};
  rows.back().dtypes &= ~dtypes::kBool;
  rows.back().keeps_memory_format = false;
  Row& polygamma_row = rows.emplace_back(row_of(
      UnaryCase{"polygamma", [](const Tensor& x) { return polygamma(2, x); },
                [](Tensor& out, const Tensor& x) -> Tensor& { return polygamma_out(out, 2, x); },
                [](double x) { return -2 * zeta_reference(3, x); }, Draw::kAboveOne, true}));
  polygamma_row.inplace = [](Tensor& self, const Tensors&) { self.polygamma_(2); };
  return rows;
}

const bool registered_special = [] {
  for (const UnaryCase& op : unary_cases()) Register{row_of(op)};
  for (const BinaryCase& op : binary_cases()) Register{row_of(op)};
  for (const Row& row : other_rows()) Register{row};
  return true;
}();

/// A function of one tensor, and a function of two transposed tensors that broadcast.
LargeCase special_functions(ScalarType dtype) {
  const Large x = large({157, 90}, 1), degree = large_indices({157, 1}, 4, 2);
  const Tensor a = x.tensor(dtype), n = degree.tensor(dtype);
  const auto each = [](int64_t rows, int64_t columns, const auto& f) {
    return build({rows, columns}, [&](const Position& at) { return f(at[0], at[1]); });
  };
  return {[=] {
            return Tensors{special_erfcx(a), special_legendre_polynomial_p(a.t(), n.t())};
          },
          {each(157, 90,
                [&](int64_t i, int64_t j) {
                  const double v = x[i * 90 + j];
                  return std::exp(v * v) * std::erfc(v);
                }),
           each(90, 157, [&](int64_t i, int64_t j) {
             return std::legendre(unsigned(degree[j]), x[j * 90 + i]);
           })}};
}

const RegisterLarge registered_large_special({"special_functions", {"Special"}, special_functions});

}  // namespace
}  // namespace hearth::testing
