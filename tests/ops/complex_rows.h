#pragma once

// Rows of ops on complex numbers. The inputs and outputs of a row are real and imaginary parts, so
// the op table's tests can compare values, gradients and second derivatives with functions of
// doubles.

#include <complex>

#include "hearth/operators.h"
#include "tests/support/op_table.h"

namespace hearth::testing {

using C = std::complex<double>;
using ComplexNumbers = std::vector<C>;

/// The complex tensors of pairs of real and imaginary parts.
inline Tensors joined(const Tensors& parts) {
  Tensors result;
  for (size_t i = 0; i + 1 < parts.size(); i += 2)
    result.push_back(make_complex(parts[i], parts[i + 1]));
  return result;
}

/// The real and imaginary parts of a complex tensor; a real tensor itself.
inline Tensors parted(const Tensor& z) {
  return z.is_complex() ? Tensors{real(z).clone(), imag(z).clone()} : Tensors{z};
}

/// A row for an elementwise op of complex numbers; with `real_result`, the op returns real numbers.
inline Row complex_row(std::string name, int operands, std::function<Tensor(const Tensors&)> op,
                       std::function<C(const C*)> reference, Draw draw = Draw::kNormal,
                       bool real_result = false) {
  Row row;
  row.name = "complex_" + name;
  row.covers = {name};
  row.dtypes = dtypes::kFloatAndDouble;
  row.of_complex = true;
  row.slack = 8;
  row.gradient_slack = 8;
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{3, 5}, {}, {0, 4}, {2, 3, 2}}) {
    row.cases.emplace_back(size_t(2 * operands), Input{sizes, draw});
  }
  row.call = [op](const Tensors& in) { return parted(op(joined(in))); };
  row.reference = [reference, operands, real_result](const Arrays& in) {
    const auto part = [&](bool imaginary) {
      return map(in, [&](const double* x) {
        ComplexNumbers z;
        for (int i = 0; i < operands; ++i) z.emplace_back(x[2 * i], x[2 * i + 1]);
        const C value = reference(z.data());
        return imaginary ? value.imag() : value.real();
      });
    };
    return real_result ? Arrays{part(false)} : Arrays{part(false), part(true)};
  };
  return row;
}

/// The row, with `ops` as the ops that it covers.
inline Row covering_complex(Row row, std::vector<std::string> ops) {
  row.covers = std::move(ops);
  return row;
}

}  // namespace hearth::testing

/// Rows of a function of one complex number z, and of two, a and b.
#define COMPLEX_ROW(name, draw, reference)                             \
  complex_row(                                                         \
      #name, 1, [](const Tensors& in) { return hearth::name(in[0]); }, \
      [](const C* in) -> C {                                           \
        const C z = in[0];                                             \
        return reference;                                              \
      },                                                               \
      draw)
#define COMPLEX_ROW2(name, expression, reference) \
  complex_row(                                    \
      #name, 2,                                   \
      [](const Tensors& in) {                     \
        const Tensor &a = in[0], &b = in[1];      \
        return expression;                        \
      },                                          \
      [](const C* in) -> C {                      \
        const C a = in[0], b = in[1];             \
        return reference;                         \
      })
