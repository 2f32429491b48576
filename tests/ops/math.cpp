#include <cmath>

#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

using Unary = Tensor (*)(const Tensor&);
using UnaryOut = Tensor& (*)(Tensor&, const Tensor&);
using UnaryInplace = Tensor& (*)(Tensor&);

Row math_row(std::string name, Unary op, UnaryOut out, UnaryInplace inplace,
             double (*reference)(double), Draw draw = Draw::kNormal) {
  Row row = unary_row(std::move(name), op, reference, draw);
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kFloat};
  row.slack = 2;
  row.out = [out](Tensor& target, const Tensors& in) { out(target, in[0]); };
  row.inplace = [inplace](Tensor& self, const Tensors&) { inplace(self); };
  row.refusals = {{[inplace] {
                     Tensor integers = ones({2}, kLong);
                     inplace(integers);
                   },
                   "result type Float can't be cast to the desired output type Long"}};
  return row;
}

/// Rounding keeps integers as they are.
Row rounding_row(std::string name, Unary op, UnaryOut out, UnaryInplace inplace,
                 double (*reference)(double)) {
  Row row = math_row(std::move(name), op, out, inplace, reference);
  row.dtypes = dtypes::kReal;
  row.results = {Result::kSame};
  row.refusals.clear();
  return row;
}

#define MATH_ROW(name, draw, ...)                                  \
  Register(math_row(                                               \
      #name, &hearth::name, &hearth::name##_out, &hearth::name##_, \
      [](double x) -> double { return __VA_ARGS__; }, draw))
#define ROUNDING_ROW(name, function)                                                 \
  Register(rounding_row(#name, &hearth::name, &hearth::name##_out, &hearth::name##_, \
                        [](double x) -> double { return function(x); }))

Row atan2_row() {
  Row row = binary_row(
      "atan2", [](const Tensor& a, const Tensor& b) { return a.atan2(b); },
      [](double a, double b) { return std::atan2(a, b); });
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kFloat};
  row.out = [](Tensor& out, const Tensors& in) { atan2_out(out, in[0], in[1]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.atan2_(in[1]); };
  return row;
}

Row fmod_row() {
  Row row = binary_row(
      "fmod", [](const Tensor& a, const Tensor& b) { return a.fmod(b); },
      [](double a, double b) { return std::fmod(a, b); });
  row.dtypes = dtypes::kReal;
  row.out = [](Tensor& out, const Tensors& in) { fmod_out(out, in[0], in[1]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.fmod_(in[1]); };
  return row;
}

Row fmod_number_row() {
  Row row = unary_row(
      "fmod_number", [](const Tensor& x) { return x.fmod(3); },
      [](double x) { return std::fmod(x, 3); });
  row.covers = {"fmod"};
  row.dtypes = dtypes::kReal;
  return row;
}

const Register registered[] = {
    MATH_ROW(exp, Draw::kNormal, std::exp(x)),
    MATH_ROW(expm1, Draw::kNormal, std::expm1(x)),
    MATH_ROW(log, Draw::kPositive, std::log(x)),
    MATH_ROW(log1p, Draw::kPositive, std::log1p(x)),
    MATH_ROW(sqrt, Draw::kPositive, std::sqrt(x)),
    MATH_ROW(rsqrt, Draw::kPositive, 1 / std::sqrt(x)),
    MATH_ROW(tanh, Draw::kNormal, std::tanh(x)),
    MATH_ROW(erf, Draw::kNormal, std::erf(x)),
    MATH_ROW(erfc, Draw::kNormal, std::erfc(x)),
    MATH_ROW(sin, Draw::kNormal, std::sin(x)),
    MATH_ROW(cos, Draw::kNormal, std::cos(x)),
    ROUNDING_ROW(floor, std::floor),
    ROUNDING_ROW(ceil, std::ceil),
    ROUNDING_ROW(round, std::nearbyint),
    ROUNDING_ROW(trunc, std::trunc),
    Register(atan2_row()),
    Register(fmod_row()),
    Register(fmod_number_row()),
};

}  // namespace
}  // namespace hearth::testing
