// Values at special inputs, gradients in all floating dtypes, and dtypes that a row does not list,
// derived from the op table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

class OpValues : public ::testing::TestWithParam<Row> {};

/// The gradient of the sum of the row's first output with respect to input 0.
Tensor gradient_of_sum(const Row& row, Tensors in, bool create_graph) {
  in[0] = in[0].detach().requires_grad_();
  return autograd::grad({row.call(in)[0].sum()}, {in[0]}, {}, {}, create_graph)[0];
}

/// Whether `got` is, within the tolerance, between the reference's slopes left and right of x.
/// Always true where these cannot be determined: where the reference is not finite, or too steep.
/// An infinite `got` is right where the reference is steep.
bool is_slope(const Row& row, double x, double got, double relative) {
  const double step = 1e-7 * std::max(1.0, std::fabs(x));
  const auto reference = [&](double point) {
    return row.reference({Array{{1}, {point}}})[0].values[0];
  };
  const double value = reference(x);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double side : {-1.0, 1.0}) {
    const double slope = (reference(x + side * step) - value) / (side * step);
    if (!std::isfinite(slope)) continue;
    low = std::min(low, slope), high = std::max(high, slope);
  }
  constexpr double kSteep = 1e3;  // exceeded by the slope of a square root at 0
  if (low > high || (high - low > kSteep && x == 0) || std::fabs(high) > 0.1 / step) return true;
  if (std::isinf(got)) return std::max(std::fabs(low), std::fabs(high)) > kSteep;
  const double slack = relative * (std::max(std::fabs(low), std::fabs(high)) + 0.1);
  return got >= low - slack && got <= high + slack;
}

/// In every floating dtype, the values at all special inputs are the reference's. For ops of one
/// input also: at finite elements with a finite value, the first derivative is a slope of the
/// reference, and the second, except at 0, is not NaN.
TEST_P(OpValues, SpecialValues) {
  const Row& row = GetParam();
  if (!row.special_values) GTEST_SKIP() << "the row has no reference for special values";
  const size_t inputs = row.cases[0].size();
  for (const Device device : devices())
    for (const ScalarType dtype : dtypes_in(row.dtypes & dtypes::kFloating)) {
      const Tensors in = special_inputs(inputs, dtype, device);
      const Tensor out = row.call(in)[0];
      expect_close(out, row.reference(arrays_of(in))[0], row.slack,
                   row.name + " special values in " + name_of(dtype));
      if (inputs > 1 || !has_differentiable_outputs(row)) continue;
      const Tensor first = gradient_of_sum(row, in, row.orders > 1);
      const Array x = to_array(in[0]), value = to_array(out), gradient = to_array(first);
      Array second{x.sizes, std::vector<double>(x.values.size(), 0)};
      if (row.orders > 1 && first.requires_grad()) {
        Tensors leaf = in;
        leaf[0] = in[0].detach().requires_grad_();
        const Tensor with_graph =
            autograd::grad({row.call(leaf)[0].sum()}, {leaf[0]}, {}, {}, true)[0];
        second = to_array(autograd::grad({with_graph.sum()}, {leaf[0]}, {}, {}, false, true)[0]);
      }
      const double relative = std::max(1e-5, 4 * relative_tolerance(dtype)) * row.slack;
      for (size_t e = 0; e < x.values.size(); ++e) {
        if (!std::isfinite(x.values[e]) || !std::isfinite(value.values[e])) continue;
        EXPECT_TRUE(is_slope(row, x.values[e], gradient.values[e], relative))
            << row.name << "' at " << x.values[e] << " " << name_of(dtype) << ": "
            << gradient.values[e];
        if (x.values[e] == 0) continue;  // a square root has no second derivative at 0
        EXPECT_FALSE(std::isnan(second.values[e]))
            << row.name << "'' at " << x.values[e] << " " << name_of(dtype);
      }
    }
}

/// Gradients of a weighted sum of the outputs with respect to the wanted inputs. bfloat16 can
/// represent the weights, so the gradient that reaches each output is exact.
std::vector<Array> weighted_gradients(const Row& row, Tensors in,
                                      const std::vector<size_t>& wanted) {
  autograd::variable_list inputs;
  for (const size_t k : wanted) inputs.push_back(in[k] = in[k].detach().requires_grad_());
  Tensor total;
  for (const Tensor& t : row.call(in)) {
    if (!t.defined() || !t.is_floating_point() || !t.requires_grad()) continue;
    const Tensor weights = arange(t.numel(), kDouble).mul(7).fmod(5).sub(1.5).reshape(t.sizes());
    const Tensor term = t.to(kDouble).mul(weights).sum();
    total = total.defined() ? total.add(term) : term;
  }
  std::vector<Array> result;
  if (!total.defined()) return result;
  const auto grads = autograd::grad({total}, inputs, {}, {}, false, true);
  for (size_t k = 0; k < grads.size(); ++k) {
    if (grads[k].defined()) {
      EXPECT_EQ(grads[k].scalar_type(), inputs[k].scalar_type()) << row.name;
    }
    result.push_back(grads[k].defined() ? to_array(grads[k])
                                        : to_array(zeros_like(inputs[k].detach())));
  }
  return result;
}

/// Gradients in float32, float16 and bfloat16 equal those in float64, with a tolerance relative to
/// the largest gradient.
TEST_P(OpValues, GradientsInOtherDtypesMatchDouble) {
  const Row& row = GetParam();
  if (!has_differentiable_outputs(row) || !row.reference)
    GTEST_SKIP() << "the op has no derivative, or is random";
  const DtypeSet others = (dtypes::kFloating & row.dtypes) & ~(1u << int(kDouble));
  for (const ScalarType dtype : dtypes_in(others))
    for (size_t i = 0; i < row.cases.size(); ++i) {
      const Tensors in =
          make_inputs(row.cases[i], dtype, Device("cpu"), MemoryLayout::kTransposed, 5);
      const auto wanted = differentiable_inputs(row.cases[i], in);
      if (wanted.empty()) continue;
      Tensors wide;
      for (const Tensor& t : in)
        wide.push_back(t.defined() && t.is_floating_point() ? t.to(kDouble) : t);
      const auto got = weighted_gradients(row, in, wanted);
      const auto expected = weighted_gradients(row, wide, wanted);
      ASSERT_EQ(got.size(), expected.size());
      const double relative = 4 * relative_tolerance(dtype) * row.gradient_slack;
      for (size_t k = 0; k < got.size(); ++k) {
        double largest = 0.1;
        for (const double v : expected[k].values)
          if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
        for (size_t e = 0; e < got[k].values.size(); ++e)
          EXPECT_TRUE(
              is_close(got[k].values[e], expected[k].values[e], relative, relative * largest))
              << describe(row, i, dtype, Device("cpu"), MemoryLayout::kTransposed)
              << ": gradient of input " << wanted[k] << ", element " << e << ": "
              << got[k].values[e] << " for " << expected[k].values[e];
      }
    }
}

/// Whether the row's op has results of its own in this dtype, which differ from the reference:
/// uint8 results of three ops wrap, those of upsampling are rounded; integer results of linspace,
/// affine_grid and avg_pool are truncated; bitwise_not of a bool is logical.
bool is_beyond_reference(const Row& row, ScalarType dtype) {
  static const std::set<std::string> ops_that_wrap_bytes{"pairwise_distance", "triplet_margin_loss",
                                                         "margin_ranking_loss"};
  if (dtype == kByte && ops_that_wrap_bytes.count(row.name) > 0) return true;
  if (dtype == kLong && row.name.rfind("avg_pool", 0) == 0) return true;
  if (dtype == kBool && row.name == "bitwise_not") return true;
  if (dtype == kByte && row.name.find("upsample") != std::string::npos) return true;
  return is_integral(dtype, false) &&
         (row.name == "linspace" || row.name.starts_with("affine_grid"));
}

/// With a dtype that the row does not list, the op throws or matches the reference. Complex dtypes
/// have tests of their own.
TEST_P(OpValues, UnlistedDtypesThrowOrMatchTheReference) {
  const Row& row = GetParam();
  for (const ScalarType dtype : dtypes_in(dtypes::kAll & ~row.dtypes)) {
    const Tensors in =
        make_inputs(row.cases[0], dtype, Device("cpu"), MemoryLayout::kContiguous, 1);
    Tensors out;
    try {
      out = row.call(in);
    } catch (const Error& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
      continue;
    }
    if (is_complex(dtype) || !row.reference || is_beyond_reference(row, dtype)) continue;
    const Arrays wanted = row.reference(arrays_of(in));
    for (size_t k = 0; k < out.size(); ++k)
      expect_close(out[k], wanted[k], row.slack, row.name + " accepts " + name_of(dtype));
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, OpValues, ::testing::ValuesIn(rows()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::testing
