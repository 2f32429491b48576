#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "functors/activation.h"
#include "functors/arithmetic.h"
#include "functors/math.h"
#include "functors/trig.h"
#include "tests/kernels/pointwise_support.h"

namespace hearth::testing {
namespace {

/// Compares the largest error of a function in one type, at special values, random bits and numbers
/// of one range, with a limit in ULP.
template <class T, class F, class Reference>
void expect_accurate(const F& functor, const Reference& reference, double low, double high,
                     double limit) {
  std::vector<T> x = special_values<T>();
  const auto random = random_values<T>(sizeof(T) == 4 ? 100000 : 40000, low, high, 7);
  x.insert(x.end(), random.begin(), random.end());
  for (const cpu::PointwiseTable* table : tables()) {
    const std::vector<T> got = apply<T>(*table, functor, Formula::kValue, {x});
    double worst = 0;
    T worst_x = 0, value = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = ulps(got[i], reference(static_cast<long double>(x[i])));
      if (error > worst) worst = error, worst_x = x[i], value = got[i];
    }
    EXPECT_LE(worst, limit) << F::info.name << (sizeof(T) == 4 ? " f32(" : " f64(") << std::hexfloat
                            << worst_x << ") = " << value << ", exactly "
                            << static_cast<double>(reference(static_cast<long double>(worst_x)));
    if (std::getenv("HEARTH_ULPS"))
      std::printf("%-8s %s [%g, %g] %.2f ULP at %.9g\n", F::info.name,
                  sizeof(T) == 4 ? "f32" : "f64", low, high, worst, static_cast<double>(worst_x));
  }
}

/// Compares the errors in float and double with their limits. Functions that are exact or correctly
/// rounded in float are so in double.
template <class F, class Reference>
void expect_accurate(const Reference& reference, double low, double high, double limit_f32 = 2) {
  expect_accurate<float>(F{}, reference, low, high, limit_f32);
  expect_accurate<double>(F{}, reference, low, high, limit_f32 <= 0.5 ? limit_f32 : 4);
}

#define HEARTH_ULP_TEST(Name, limit_f32, function, ...)                                        \
  TEST(PointwiseUlps, Name) {                                                                  \
    for (const auto& [low, high] : std::vector<std::pair<double, double>>{__VA_ARGS__})        \
      expect_accurate<fn::Name>([](long double x) { return function; }, low, high, limit_f32); \
  }
HEARTH_ULP_TEST(Exp, 1.1, std::exp(x), {-1, 1}, {-104, 89}, {-746, 710})
HEARTH_ULP_TEST(Expm1, 2, std::expm1(x), {-1, 1}, {-40, 89}, {-1e-3, 1e-3}, {80, 710})
HEARTH_ULP_TEST(Log, 1, std::log(x), {0.5, 2}, {0, 1e6}, {0.99, 1.01})
HEARTH_ULP_TEST(Log1p, 1, std::log1p(x), {-1, 1}, {-1, 1e6}, {-1e-3, 1e-3})
HEARTH_ULP_TEST(Sqrt, 0.5, std::sqrt(x), {0, 100})
HEARTH_ULP_TEST(Tanh, 1.5, std::tanh(x), {-1, 1}, {-20, 20}, {-1e-3, 1e-3})
HEARTH_ULP_TEST(Erf, 1.5, std::erf(x), {-1, 1}, {-6, 6}, {-1e-3, 1e-3})
HEARTH_ULP_TEST(Erfc, 2.5, std::erfc(x), {-1, 1}, {-6, 6}, {5, 27})
HEARTH_ULP_TEST(Sin, 1.6, std::sin(x), {-4, 4}, {-1e5, 1e5}, {-1e9, 1e9})
HEARTH_ULP_TEST(Cos, 1.6, std::cos(x), {-4, 4}, {-1e5, 1e5}, {-1e9, 1e9})
HEARTH_ULP_TEST(Floor, 0, std::floor(x), {-10, 10})
HEARTH_ULP_TEST(Ceil, 0, std::ceil(x), {-10, 10})
HEARTH_ULP_TEST(Round, 0, std::rint(x), {-10, 10})
HEARTH_ULP_TEST(Trunc, 0, std::trunc(x), {-10, 10})
HEARTH_ULP_TEST(Exp2, 1.1, std::exp2(x), {-1, 1}, {-150, 128}, {-1075, 1024})
HEARTH_ULP_TEST(Log2, 2, std::log2(x), {0.5, 2}, {0, 1e6}, {0.99, 1.01})
HEARTH_ULP_TEST(Log10, 1, std::log10(x), {0.5, 2}, {0, 1e6}, {0.99, 1.01})
HEARTH_ULP_TEST(Sigmoid, 2.5, 1 / (1 + std::exp(-x)), {-1, 1}, {-104, 20}, {-746, 40})
HEARTH_ULP_TEST(Tan, 3.5, std::tan(x), {-1, 1}, {-1e5, 1e5})
HEARTH_ULP_TEST(Asin, 3, std::asin(x), {-1, 1}, {-1e-3, 1e-3})
HEARTH_ULP_TEST(Acos, 3, std::acos(x), {-1, 1}, {0.99, 1})
HEARTH_ULP_TEST(Atan, 2.5, std::atan(x), {-1, 1}, {-100, 100}, {-1e-3, 1e-3})
HEARTH_ULP_TEST(Sinh, 3, std::sinh(x), {-1, 1}, {-90, 90}, {-1e-3, 1e-3}, {-711, 711})
HEARTH_ULP_TEST(Cosh, 3, std::cosh(x), {-1, 1}, {-90, 90}, {-711, 711})
HEARTH_ULP_TEST(Asinh, 3, std::asinh(x), {-1, 1}, {-1e9, 1e9}, {-1e-3, 1e-3})
HEARTH_ULP_TEST(Acosh, 3, std::acosh(x), {1, 2}, {1, 1e9})
HEARTH_ULP_TEST(Atanh, 3, std::atanh(x), {-1, 1}, {-1e-3, 1e-3})
#undef HEARTH_ULP_TEST

TEST(PointwiseUlps, Rsqrt) {
  const auto reference = [](long double x) {
    return x == 0 ? std::copysign(HUGE_VALL, x) : 1 / std::sqrt(x);
  };
  expect_accurate<fn::Rsqrt>(reference, 0, 100);
}

long double ndtr_exactly(long double x) { return std::erfc(-x * std::sqrt(0.5L)) / 2; }

TEST(PointwiseUlps, SpecialNdtr) {
  for (const double bound : {1, 6, 38}) {
    expect_accurate<float>(fn::SpecialNdtr{}, ndtr_exactly, -bound, bound / 2, 3);
    expect_accurate<double>(fn::SpecialNdtr{}, ndtr_exactly, -bound, bound / 2, 4.5);
  }
}

long double gelu_exactly(long double x) { return x * ndtr_exactly(x); }

TEST(PointwiseUlps, GeluInDoublePrecision) {
  expect_accurate<double>(fn::Gelu{}, gelu_exactly, -37, 6, 5);
}

/// Below -1 the bound is absolute, because single precision loses the relative accuracy of the
/// small results.
TEST(PointwiseUlps, GeluInSinglePrecision) {
  std::vector<float> x = special_values<float>();
  const auto random = random_values<float>(100000, -20, 6, 7);
  x.insert(x.end(), random.begin(), random.end());
  for (const cpu::PointwiseTable* table : tables()) {
    const std::vector<float> got = apply<float>(*table, fn::Gelu{}, Formula::kValue, {x});
    for (size_t i = 0; i < x.size(); ++i) {
      const long double exact = gelu_exactly(x[i]);
      if (x[i] >= -1 || !std::isfinite(x[i]))
        ASSERT_LE(ulps(got[i], exact), 13) << x[i];
      else
        ASSERT_NEAR(got[i], double(exact), 1.3e-7) << x[i];
    }
  }
}

/// Checks pow on all pairs of special values and on random pairs.
template <class T>
void expect_accurate_pow(double limit) {
  std::vector<T> a, b;
  const std::vector<T> special = special_values<T>();
  for (const T x : special)
    for (const T y : special) a.push_back(x), b.push_back(y);
  for (const auto& [base, exponent] :
       {std::pair{3.0, 20.0}, {1.001, 3000.0}, {1e6, 5.0}, {1.0, 1000.0}}) {
    const auto bases = random_values<T>(20000, base * 0.9, base * 1.1, 1);
    const auto exponents = random_values<T>(20000, -exponent, exponent, 2);
    a.insert(a.end(), bases.begin(), bases.end());
    b.insert(b.end(), exponents.begin(), exponents.end());
  }
  for (const cpu::PointwiseTable* table : tables()) {
    const std::vector<T> got = apply<T>(*table, fn::Pow{}, Formula::kValue, {a, b});
    double worst = 0;
    size_t worst_i = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double error =
          ulps(got[i], std::pow(static_cast<long double>(a[i]), static_cast<long double>(b[i])));
      if (error > worst) worst = error, worst_i = i;
    }
    EXPECT_LE(worst, limit) << "pow(" << a[worst_i] << ", " << b[worst_i] << ") = " << got[worst_i];
    if (std::getenv("HEARTH_ULPS"))
      std::printf("pow %.2f ULP at %g, %g\n", worst, double(a[worst_i]), double(b[worst_i]));
  }
}

TEST(PointwiseUlps, Pow) {
  expect_accurate_pow<float>(2);
  expect_accurate_pow<double>(4);
}

}  // namespace
}  // namespace hearth::testing
