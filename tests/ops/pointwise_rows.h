#pragma once

// Rows of pointwise ops.

#include <cmath>

#include "tests/support/op_table.h"

/// A row for hearth::function(x, arguments...) with its out= and in-place forms. `reference` is an
/// expression in the double x.
#define POINTWISE_ROW(row_name, function, draw, reference, ...)                                   \
  [] {                                                                                            \
    Row result = unary_row(                                                                       \
        row_name, [](const Tensor& x) { return hearth::function(x __VA_OPT__(, ) __VA_ARGS__); }, \
        [](double x) -> double { return reference; }, draw);                                      \
    result.covers = {#function};                                                                  \
    result.slack = 2;                                                                             \
    result.out = [](Tensor& out, const Tensors& in) {                                             \
      hearth::function##_out(out, in[0] __VA_OPT__(, ) __VA_ARGS__);                              \
    };                                                                                            \
    result.inplace = [](Tensor& self, const Tensors&) { self.function##_(__VA_ARGS__); };         \
    return result;                                                                                \
  }()

/// A row for a.function(b) with its out= form. `reference` is an expression in the doubles a and b.
#define POINTWISE_ROW2(function, draw, types, reference)                                    \
  [] {                                                                                      \
    Row result = binary_row(                                                                \
        #function, [](const Tensor& a, const Tensor& b) { return a.function(b); },          \
        [](double a, double b) -> double { return reference; }, draw);                      \
    result.dtypes = types;                                                                  \
    result.slack = 2;                                                                       \
    result.out = [](Tensor& out, const Tensors& in) { function##_out(out, in[0], in[1]); }; \
    return result;                                                                          \
  }()

namespace hearth::testing {

/// Adds integers and bools, whose results are float32, to a row's dtypes. In place, integers are
/// refused.
inline Row with_integers_to_float(Row row) {
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kFloat};
  const auto inplace = row.inplace;
  row.refusals = {{[inplace] {
                     Tensor integers = ones({2}, kLong);
                     inplace(integers, {integers, integers});
                   },
                   "result type Float can't be cast to the desired output type Long"}};
  return row;
}

/// Sets the op that the row covers, for a row with another name.
inline Row covering(Row row, std::string op) {
  row.covers = {std::move(op)};
  return row;
}

/// Adds integers, whose results are integers, to a row's dtypes.
inline Row with_integers(Row row) {
  row.dtypes = dtypes::kReal;
  return row;
}

/// Sets the in-place form of a row for an op of two tensors.
inline Row with_inplace(Row row, Tensor& (*inplace)(Tensor&, const Tensor&)) {
  row.inplace = [inplace](Tensor& self, const Tensors& in) { inplace(self, in[1]); };
  return row;
}

/// A row for an elementwise op of three tensors.
inline Row ternary_row(std::string name, std::function<Tensor(const Tensors&)> op,
                       double (*reference)(const double*), Draw draw = Draw::kNormal) {
  Row row;
  row.name = name;
  row.covers = {name};
  row.cases = {{{{3, 5}, draw}, {{3, 5}, draw}, {{3, 5}, draw}},
               {{{3, 1, 4}, draw}, {{2, 1}, draw}, {{4}, draw}},
               {{{}, draw}, {{}, draw}, {{}, draw}},
               {{{0, 4}, draw}, {{1, 4}, draw}, {{0, 1}, draw}},
               {{{2, 3, 2, 2}, draw}, {{2, 3, 2, 2}, draw}, {{2, 3, 2, 2}, draw}}};
  row.keeps_memory_format = true;
  row.slack = 2;
  row.call = [op](const Tensors& in) { return Tensors{op(in)}; };
  row.reference = [reference](const Arrays& in) { return Arrays{map(in, reference)}; };
  return row;
}

}  // namespace hearth::testing
