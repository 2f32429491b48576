#pragma once

// Compares every formula of a family of functors, as the CPU's kernels compute it, with the same
// formula on the type Reference, which uses the standard library. Function values are also compared
// with independent references. Included by the units generated from
// pointwise_formulas_@family@.cpp.in. tests/ops compares derivatives with finite differences.

#include <gtest/gtest.h>

#include <type_traits>

#include "tests/kernels/pointwise_references.h"
#include "tests/kernels/pointwise_support.h"

namespace hearth::testing {

/// A number computed by the standard library: floats in the next wider type, integers wrapped to T.
template <class T>
struct Reference {
  static constexpr bool kIntegral = std::is_integral_v<T>;
  using Wide =
      std::conditional_t<kIntegral, T, std::conditional_t<sizeof(T) == 4, double, long double>>;
  using R = Reference;
  Wide v;

  template <class S>
  requires std::is_arithmetic_v<S> Reference(S value) : v(static_cast<Wide>(value)) {}

  static R wrapped(uint64_t bits) { return R(static_cast<T>(bits)); }
#define HEARTH_REFERENCE_OPERATOR(op)                                           \
  friend R operator op(R a, R b) {                                              \
    if constexpr (kIntegral)                                                    \
      return wrapped(static_cast<uint64_t>(a.v) op static_cast<uint64_t>(b.v)); \
    else                                                                        \
      return R(a.v op b.v);                                                     \
  }
  HEARTH_REFERENCE_OPERATOR(+)
  HEARTH_REFERENCE_OPERATOR(-)
  HEARTH_REFERENCE_OPERATOR(*)
#undef HEARTH_REFERENCE_OPERATOR
  friend R operator/(R a, R b) { return R(a.v / b.v); }
  friend R operator-(R a) { return kIntegral ? R(0) - a : R(-a.v); }

  struct Truth {
    bool v;
    friend Truth operator&(Truth a, Truth b) { return {a.v && b.v}; }
    friend Truth operator|(Truth a, Truth b) { return {a.v || b.v}; }
    friend Truth operator!(Truth a) { return {!a.v}; }
    friend R select(Truth c, R a, R b) { return c.v ? a : b; }
  };
#define HEARTH_REFERENCE_COMPARISON(op) \
  friend Truth operator op(R a, R b) { return {a.v op b.v}; }
  HEARTH_REFERENCE_COMPARISON(==)
  HEARTH_REFERENCE_COMPARISON(!=)
  HEARTH_REFERENCE_COMPARISON(<)
  HEARTH_REFERENCE_COMPARISON(<=)
  HEARTH_REFERENCE_COMPARISON(>)
  HEARTH_REFERENCE_COMPARISON(>=)
#undef HEARTH_REFERENCE_COMPARISON

#define HEARTH_REFERENCE_UNARY(name) \
  friend R name(R x) { return R(std::name(x.v)); }
  HEARTH_REFERENCE_UNARY(sqrt)
  HEARTH_REFERENCE_UNARY(exp)
  HEARTH_REFERENCE_UNARY(exp2)
  HEARTH_REFERENCE_UNARY(expm1)
  HEARTH_REFERENCE_UNARY(log)
  HEARTH_REFERENCE_UNARY(log2)
  HEARTH_REFERENCE_UNARY(log10)
  HEARTH_REFERENCE_UNARY(log1p)
  HEARTH_REFERENCE_UNARY(sinh)
  HEARTH_REFERENCE_UNARY(cosh)
  HEARTH_REFERENCE_UNARY(tanh)
  HEARTH_REFERENCE_UNARY(erf)
  HEARTH_REFERENCE_UNARY(erfc)
  HEARTH_REFERENCE_UNARY(sin)
  HEARTH_REFERENCE_UNARY(cos)
#undef HEARTH_REFERENCE_UNARY
  friend R floor(R x) { return kIntegral ? x : R(std::floor(x.v)); }
  friend R ceil(R x) { return kIntegral ? x : R(std::ceil(x.v)); }
  friend R trunc(R x) { return kIntegral ? x : R(std::trunc(x.v)); }
  friend R round(R x) { return kIntegral ? x : R(std::nearbyint(x.v)); }
  friend R rsqrt(R x) { return R(1 / std::sqrt(x.v)); }
  friend R abs(R x) { return x.v < 0 ? -x : kIntegral ? x : R(std::fabs(x.v)); }
  friend Truth isnan(R x) { return {x.v != x.v}; }
  friend Truth isinf(R x) { return {!kIntegral && std::isinf(static_cast<double>(x.v))}; }
  friend Truth signbit(R x) {
    return {kIntegral ? x.v < 0 : std::signbit(static_cast<double>(x.v))};
  }
  friend R special_ndtr(R x) { return R(std::erfc(-x.v * std::sqrt(T(0.5))) / 2); }
  friend R gelu(R x) { return x * special_ndtr(x); }
  friend R sigmoid(R x) { return R(1 / (1 + std::exp(-x.v))); }
#define HEARTH_REFERENCE_BITS(op) \
  friend R operator op(R a, R b) { return R(static_cast<T>(a.v op b.v)); }
  HEARTH_REFERENCE_BITS(&)
  HEARTH_REFERENCE_BITS(|)
  HEARTH_REFERENCE_BITS(^)
#undef HEARTH_REFERENCE_BITS
  friend R operator~(R a) { return R(static_cast<T>(~a.v)); }
  friend R quotient(R a, R b) {
    if (b.v == 0) return R(0);
    return b.v < 0 && b.v == T(-1) ? R(0) - a : R(static_cast<T>(a.v / b.v));
  }
  friend R shift_left(R a, R b) {
    return b.v < 0 || b.v >= int(8 * sizeof(T)) ? R(0) : wrapped(static_cast<uint64_t>(a.v) << b.v);
  }
  friend R shift_right(R a, R b) {
    if (b.v < 0 || b.v >= int(8 * sizeof(T))) return R(a.v < 0 ? -1 : 0);
    return R(static_cast<T>(a.v >> b.v));
  }
  friend R minimum(R a, R b) { return isnan(a).v || a.v < b.v ? a : b; }
  friend R maximum(R a, R b) { return isnan(a).v || a.v > b.v ? a : b; }
  friend R atan2(R a, R b) { return R(std::atan2(a.v, b.v)); }
  friend R fmod(R a, R b) {
    if constexpr (kIntegral)
      return R(b.v == 0 || (b.v < 0 && b.v == T(-1)) ? 0 : a.v % b.v);
    else
      return R(std::fmod(a.v, b.v));
  }
  friend R pow(R a, R b) {
    if constexpr (kIntegral) {
      if (b.v < 0) return a.v == 1 ? R(1) : a.v == T(-1) ? R(b.v % 2 ? -1 : 1) : R(0);
      if (b.v == 0) return R(1);
      const R root = pow(a, R(b.v / 2));
      return b.v % 2 ? root * root * a : root * root;
    } else {
      return R(std::pow(a.v, b.v));
    }
  }
};

/// Random inputs: integers of all sizes; floats of moderate size and, if `extremes` is set, special
/// values. Gradients are tested without these, whose products overflow in T, but not in the wider
/// reference.
template <class T>
std::vector<T> inputs(unsigned seed, bool extremes) {
  std::mt19937_64 generator(seed);
  std::vector<T> result;
  if constexpr (std::is_same_v<T, bool>) {
    for (int i = 0; i < 100; ++i) result.push_back(generator() % 2);
  } else if constexpr (std::is_integral_v<T>) {
    using L = std::numeric_limits<T>;
    result = {0, 1, T(-1), 2, T(-2), L::max(), L::min(), T(L::max() - 1)};
    for (int i = 0; i < 100; ++i)
      result.push_back(i % 2 ? T(generator()) : T(int(generator() % 21) - 10));
  } else {
    std::uniform_real_distribution<T> uniform(-5, 5);
    if (extremes) result = special_values<T>();
    result.insert(result.end(), {0, 1, -1, 2});
    while (result.size() < 200) result.push_back(uniform(generator));
  }
  std::shuffle(result.begin(), result.end(), generator);
  return result;
}

/// T in an array; bools are bytes.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

/// Whether `got` equals `exact` up to a few roundings. Near or beyond the range of T, infinity and
/// NaN are accepted, because intermediate results may overflow. If the result is a small
/// difference of large terms, `terms` is their magnitude.
template <class T>
bool close(T got, long double exact, long double terms = 0) {
  if constexpr (std::is_integral_v<T>) {
    return got == static_cast<T>(exact);
  } else {
    const bool fits = std::abs(exact) <= std::numeric_limits<T>::max() / 64.0L;
    if (std::isnan(exact)) return std::isnan(got);
    if (std::isnan(got)) return !fits;
    if (std::isinf(exact)) return got == static_cast<T>(exact);
    if (std::isinf(got)) return !fits && (got > 0) == (exact > 0);
    const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-13;
    const auto rounded = static_cast<T>(exact);
    return got == rounded || std::abs(got - exact) <= tolerance * (std::abs(exact) + terms + 1e-3L);
  }
}

/// A functor in which alpha, the upper bound of hardtanh and the replacement of threshold differ
/// from the default, 1.
template <class F>
F sample() {
  F f{};
  if constexpr (requires { f.alpha.real; }) f.alpha = {3, 3};
  if constexpr (requires { f.max_val.real; }) f.max_val = {3, 3};
  if constexpr (requires { f.replacement.real; }) f.replacement = {3, 3};
  return f;
}

/// The arguments of a formula, one row of values per argument.
template <class T>
using Rows = std::vector<std::vector<Stored<T>>>;

template <class T>
Rows<T> rows_of_inputs(int count, bool extremes) {
  Rows<T> rows;
  for (unsigned k = 0; k < unsigned(count); ++k) {
    const auto values = inputs<T>(k + 1, extremes);
    rows.emplace_back(values.begin(), values.end());
  }
  return rows;
}

/// The output for the given rows with one instruction set; predicates give bytes.
template <class Out, class T>
std::vector<Out> computed(const cpu::PointwiseTable& table, PointwiseParams p, Rows<T>& rows) {
  std::vector<Out> out(rows[0].size());
  p.out.data = out.data();
  for (size_t k = 0; k < rows.size(); ++k) p.in[k].data = rows[k].data();
  cpu::run_with(table, p);
  return out;
}

/// The magnitude of cancelling terms: for targets far from [0, 1], the weighted entropy is a small
/// difference of large products.
template <class T>
long double terms_of(const char* name, const Rows<T>& in, size_t i) {
  if (std::string(name) != "binary_cross_entropy_with_logits" || in.size() < 3) return 0;
  const long double product = std::abs(static_cast<long double>(in[0][i]) * in[1][i]);
  return std::isfinite(product) ? product : 0;
}

template <class T, class Out>
void expect_close(const char* name, int formula, bool as_bool, const Rows<T>& in,
                  const std::vector<Out>& out, const std::vector<long double>& exact) {
  for (size_t i = 0; i < out.size(); ++i) {
    const bool is_equal =
        as_bool ? out[i] == Out(exact[i] != 0) : close(out[i], exact[i], terms_of<T>(name, in, i));
    ASSERT_TRUE(is_equal) << name << " formula " << formula << " dtype " << int(dtype_of<T>) << ": "
                          << double(out[i]) << " instead of " << double(exact[i]) << " at "
                          << double(in[0][i]) << ", " << double(in[in.size() > 1 ? 1 : 0][i])
                          << ", " << double(in.back()[i]);
  }
}

/// Compares values with the independent reference, except integer results out of range.
template <class F, class T, class Out>
void expect_reference(bool as_bool, const Rows<T>& in, const std::vector<Out>& out) {
  std::string name = F::info.name;
  if (F::info.overload[0] != 0) name += std::string(".") + F::info.overload;
  const PointwiseReference reference = pointwise_reference(name);
  ASSERT_TRUE(reference) << "add " << name << " to pointwise_references.cpp";
  for (size_t i = 0; i < out.size(); ++i) {
    long double x[3] = {};
    for (size_t k = 0; k < in.size(); ++k) x[k] = in[k][i];
    const long double exact = reference(x);
    if (std::is_integral_v<T> && !(std::abs(exact) < 0x1p62L)) continue;
    const bool is_equal = as_bool ? out[i] == Out(exact != 0)
                          : std::is_integral_v<Out>
                              ? out[i] == static_cast<Out>(static_cast<int64_t>(exact))
                              : close(out[i], exact, terms_of<T>(F::info.name, in, i));
    ASSERT_TRUE(is_equal) << name << " dtype " << int(dtype_of<T>) << ": " << double(out[i])
                          << " instead of " << double(exact) << " at " << double(x[0]) << ", "
                          << double(x[1]) << ", " << double(x[2]);
  }
}

/// Compares one formula in dtype T, computed with one instruction set, with the reference.
template <class F, int formula, class T>
void check_formula(const cpu::PointwiseTable& table) {
  constexpr int count = fn::operands<F, formula>;
  const F f = sample<F>();
  Rows<T> in = rows_of_inputs<T>(count, formula == 0);
  constexpr bool is_predicate = formula == 0 && F::info.promote == Promote::kToBool;
  using Out = std::conditional_t<is_predicate, uint8_t, Stored<T>>;
  const int64_t n = int64_t(in[0].size());
  const auto p = params(f, Formula(formula), dtype_of<T>, {n},
                        operand(nullptr, is_predicate ? kBool : dtype_of<T>, {1}),
                        std::vector<Operand>(size_t(count), operand(nullptr, dtype_of<T>, {1})));
  const std::vector<Out> out = computed<Out, T>(table, p, in);
  using R = Reference<Stored<T>>;
  std::vector<long double> exact;
  for (size_t i = 0; i < size_t(n); ++i)
    exact.push_back([&]<size_t... k>(std::index_sequence<k...>) {
      return fn::evaluate<formula>(f, R(in[k][i])...).v;
    }(std::make_index_sequence<size_t(count)>()));
  constexpr bool as_bool = is_predicate || std::is_same_v<T, bool>;
  expect_close<T>(F::info.name, formula, as_bool, in, out, exact);
  if constexpr (formula == 0) expect_reference<F, T>(as_bool, in, out);
}

template <class F, int formula, class T>
void check_if_supported() {
  constexpr bool supported = fn::has_formula<F, formula> &&
                             (F::info.dtypes >> int(dtype_of<T>) & 1u) &&
                             (formula == 0 || std::is_floating_point_v<T>);
  EXPECT_EQ(cpu::pointwise_supported(fn::number_of<F>, Formula(formula), dtype_of<T>), supported)
      << F::info.name;
  if constexpr (supported)
    for (const cpu::PointwiseTable* table : tables()) check_formula<F, formula, T>(*table);
}

template <class F, class T>
void check_formulas() {
  check_if_supported<F, 0, T>();
  check_if_supported<F, 1, T>();
  check_if_supported<F, 2, T>();
  check_if_supported<F, 3, T>();
}

template <class T, class... F>
void check_all(List<F...>) {
  (check_formulas<F, T>(), ...);
}

}  // namespace hearth::testing

#define HEARTH_TEST_FORMULAS(Family)                                  \
  namespace hearth::testing {                                         \
  TEST(Family##Formulas, Float) { check_all<float>(fn::Family{}); }   \
  TEST(Family##Formulas, Double) { check_all<double>(fn::Family{}); } \
  TEST(Family##Formulas, Byte) { check_all<uint8_t>(fn::Family{}); }  \
  TEST(Family##Formulas, Char) { check_all<int8_t>(fn::Family{}); }   \
  TEST(Family##Formulas, Short) { check_all<int16_t>(fn::Family{}); } \
  TEST(Family##Formulas, Int) { check_all<int32_t>(fn::Family{}); }   \
  TEST(Family##Formulas, Long) { check_all<int64_t>(fn::Family{}); }  \
  TEST(Family##Formulas, Bool) { check_all<bool>(fn::Family{}); }     \
  }  // namespace hearth::testing
