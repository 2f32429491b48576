// Derivatives of every op, derived from the op table: first and second order against finite
// differences, and first order in other memory layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/autograd/forward_ad.h"
#include "hearth/operators.h"
#include "hearth/stream.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

class OpGradients : public ::testing::TestWithParam<Row> {};

/// The sum of all differentiable results, each element times a fixed weight of its own. `squared`
/// squares the results, so that the gradient of a linear op depends on its inputs too. Results that
/// require no gradient are left out unless `include_constants` is set.
Tensor weighted(const Tensors& out, bool squared = false, bool include_constants = false) {
  Tensor total;
  double weight = 0.7;
  for (const Tensor& t : out) {
    if (!t.defined() || !t.is_floating_point() || !(include_constants || t.requires_grad()))
      continue;
    Tensor weights = empty(t.sizes(), kDouble);
    for (int64_t i = 0; i < weights.numel(); ++i) {
      weight = weight * 1.37 - 0.81;
      if (std::fabs(weight) > 2) weight *= 0.31;
      weights.data_ptr<double>()[i] = weight;
    }
    const Tensor term = (squared ? t.mul(t) : t).mul(weights.to(t.device(), kDouble)).sum();
    total = total.defined() ? total.add(term) : term;
  }
  return total;
}

using ScalarFunction = std::function<Tensor(const Tensors&)>;

#if defined(HEARTH_FEW_FINITE_DIFFERENCES)
constexpr size_t kCheckedElements = 2;
#else
constexpr size_t kCheckedElements = std::numeric_limits<size_t>::max();
#endif

/// The gradients of `scalar` with respect to the wanted inputs; empty if it requires no gradient.
std::vector<Array> analytic_gradients(const ScalarFunction& scalar, const Tensors& in,
                                      const std::vector<size_t>& wanted) {
  Tensors leaves;
  for (const Tensor& t : in) leaves.push_back(t.defined() ? t.detach().clone() : t);
  autograd::variable_list inputs;
  for (size_t i : wanted) inputs.push_back(leaves[i].requires_grad_());
  const Tensor value = scalar(leaves);
  std::vector<Array> result;
  if (!value.defined() || !value.requires_grad()) return result;
  const auto grads = autograd::grad({value}, inputs, {}, {}, false, true);
  for (size_t k = 0; k < inputs.size(); ++k)
    result.push_back(grads[k].defined()
                         ? to_array(grads[k])
                         : Array{{}, std::vector<double>(size_t(inputs[k].numel()), 0.0)});
  return result;
}

/// The value of `scalar` after adding delta to one element of one input.
double value_after_step(const ScalarFunction& scalar, const Tensors& in,
                        const std::vector<size_t>& wanted, size_t input, int64_t element,
                        double delta) {
  Tensors fresh;
  for (const Tensor& t : in) fresh.push_back(t.defined() ? t.detach().clone() : t);
  fresh[input].view({-1}).select(0, element).add_(delta);
  for (size_t i : wanted) fresh[i].requires_grad_();
  return scalar(fresh).item<double>();
}

/// Compares gradients of `scalar` with central differences, for the first kCheckedElements elements
/// of each wanted input. On a GPU, compares with the CPU's gradients unless the row is random.
void expect_gradients(const Row& row, const ScalarFunction& scalar, const Tensors& in,
                      const std::vector<size_t>& wanted, const std::string& description,
                      double tolerance) {
  const std::vector<Array> analytic = analytic_gradients(scalar, in, wanted);
  if (analytic.empty()) {
    EXPECT_FALSE(has_differentiable_outputs(row))
        << description << ": the result requires no gradient";
    return;
  }
  constexpr double kStep = 1e-5;
  const bool by_differences = in[wanted[0]].is_cpu() || !row.reference;
  std::vector<Array> expected;
  if (!by_differences) {
    Tensors on_cpu;
    for (const Tensor& t : in) on_cpu.push_back(t.defined() ? t.cpu() : t);
    expected = analytic_gradients(scalar, on_cpu, wanted);
  }
  for (size_t k = 0; k < wanted.size(); ++k)
    for (size_t e = 0; e < std::min(analytic[k].values.size(), kCheckedElements); ++e) {
      const auto at = [&](double delta) {
        return value_after_step(scalar, in, wanted, wanted[k], int64_t(e), delta);
      };
      const double reference =
          by_differences ? (at(kStep) - at(-kStep)) / (2 * kStep) : expected[k].values[e];
      EXPECT_NEAR(analytic[k].values[e], reference, tolerance * (1 + std::fabs(reference)))
          << description << ": gradient of input " << wanted[k] << ", element " << e;
    }
}

/// Calls f(inputs, wanted, description) for each device and case with differentiable inputs.
template <class F>
void for_each_case(const Row& row, F f) {
  for (const Device device : devices())
    for (size_t i = 0; i < row.cases.size(); ++i) {
      const Tensors in = make_inputs(row.cases[i], kDouble, device, MemoryLayout::kContiguous, 5);
      const auto wanted = differentiable_inputs(row.cases[i], in);
      if (!wanted.empty())
        f(in, wanted, describe(row, i, kDouble, device, MemoryLayout::kContiguous));
    }
}

TEST_P(OpGradients, FirstDerivativesMatchFiniteDifferences) {
  const Row& row = GetParam();
  if (row.orders < 1) GTEST_SKIP() << "the op has no derivative";
  for_each_case(row, [&](const Tensors& in, const std::vector<size_t>& wanted,
                         const std::string& description) {
    expect_gradients(
        row, [&](const Tensors& t) { return weighted(row.call(t)); }, in, wanted, description,
        2e-7);
  });
}

/// The gradients of a weighted sum. The weights, and so the outputs' gradients, have their
/// dimensions in reverse order in memory, or are channels_last.
std::vector<Array> gradients_of(const Row& row, const Tensors& in,
                                const std::vector<size_t>& wanted, bool channels_last = false) {
  Tensors leaves = in;
  autograd::variable_list inputs;
  for (size_t k : wanted) inputs.push_back(leaves[k] = in[k].detach().requires_grad_());
  Tensor total;
  for (const Tensor& out : row.call(leaves)) {
    if (!out.defined() || !out.requires_grad()) continue;
    Tensor weights = arange(out.numel(), out.options()).fmod(7).sub(2.5).reshape(out.sizes());
    if (channels_last && out.dim() == 4)
      weights = weights.contiguous(MemoryFormat::ChannelsLast);
    else
      weights = weights.numpy_T().contiguous().numpy_T();
    const Tensor term = out.mul(weights).sum();
    total = total.defined() ? total.add(term) : term;
  }
  std::vector<Array> result;
  if (!total.defined()) return result;
  for (const Tensor& grad : autograd::grad({total}, inputs, {}, {}, false, true))
    result.push_back(grad.defined() ? to_array(grad) : Array());
  return result;
}

/// Memory layouts of the inputs: dimensions in reverse order, gaps between elements, channels_last.
enum class GradientLayout { kReversed, kGaps, kChannelsLast };

/// Copies in another layout; for channels_last, an empty list if no tensor would change.
Tensors in_layout(Tensors tensors, GradientLayout layout) {
  bool has_changed = layout != GradientLayout::kChannelsLast;
  for (Tensor& t : tensors) {
    if (!t.defined()) continue;
    if (layout == GradientLayout::kReversed) t = t.numpy_T().contiguous().numpy_T();
    if (layout == GradientLayout::kGaps) t = stack({t, t}, -1).select(-1, 0);
    if (layout != GradientLayout::kChannelsLast || t.dim() != 4) continue;
    t = t.contiguous(MemoryFormat::ChannelsLast);
    has_changed |= !t.is_contiguous();
  }
  return has_changed ? tensors : Tensors();
}

TEST_P(OpGradients, DoNotDependOnTheLayout) {
  const Row& row = GetParam();
  if (row.orders < 1 || !row.reference) GTEST_SKIP() << "the op has no derivative, or is random";
  for (const Device device : devices())
    for (size_t i = 0; i < row.cases.size(); ++i) {
      const Tensors contiguous =
          make_inputs(row.cases[i], kDouble, device, MemoryLayout::kContiguous, 5);
      const auto wanted = differentiable_inputs(row.cases[i], contiguous);
      if (wanted.empty()) continue;
      const std::vector<Array> expected = gradients_of(row, contiguous, wanted);
      for (const auto layout :
           {GradientLayout::kReversed, GradientLayout::kGaps, GradientLayout::kChannelsLast}) {
        const Tensors copies = in_layout(contiguous, layout);
        if (copies.empty()) continue;
        const std::vector<Array> got =
            gradients_of(row, copies, wanted, layout == GradientLayout::kChannelsLast);
        ASSERT_EQ(got.size(), expected.size());
        for (size_t k = 0; k < got.size(); ++k)
          for (size_t e = 0; e < got[k].values.size(); ++e)
            EXPECT_NEAR(got[k].values[e], expected[k].values[e],
                        1e-10 * (1 + std::fabs(expected[k].values[e])))
                << row.name << " case " << i << " on " << device << " gradient layout "
                << int(layout) << ": gradient of input " << wanted[k] << ", element " << e;
      }
    }
}

/// Whether all gradients are zero.
bool are_all_zero(const std::vector<Array>& gradients) {
  for (const Array& gradient : gradients)
    for (const double v : gradient.values)
      if (v != 0) return false;
  return true;
}

TEST_P(OpGradients, SecondDerivativesMatchFiniteDifferences) {
  const Row& row = GetParam();
  if (row.orders < 2) GTEST_SKIP() << "the op has no second derivative";
  for_each_case(row, [&](const Tensors& in, const std::vector<size_t>& wanted,
                         const std::string& description) {
    const auto squared = [&](const Tensors& t) { return weighted(row.call(t), true); };
    if (are_all_zero(analytic_gradients(squared, in, wanted))) return;
    const auto first_order = [&](const Tensors& t) {
      autograd::variable_list inputs;
      for (size_t k : wanted) inputs.push_back(t[k]);
      // A gradient without a graph counts as a constant and fails the comparison.
      return weighted(autograd::grad({squared(t)}, inputs, {}, {}, true, true), false, true);
    };
    expect_gradients(row, first_order, in, wanted, description + " second order", 1e-6);
  });
}

/// The directions in which the wanted inputs are changed, undefined for the others.
Tensors directions_of(const Tensors& in, const std::vector<size_t>& wanted) {
  Tensors directions(in.size());
  for (const size_t k : wanted)
    directions[k] = arange(in[k].numel(), TensorOptions(kDouble).device(in[k].device()))
                        .mul(0.7)
                        .add(double(k))
                        .sin()
                        .reshape(in[k].sizes());
  return directions;
}

/// Copies of the inputs, moved by `step` in their directions.
Tensors moved(const Tensors& in, const Tensors& directions, double step) {
  Tensors result;
  for (size_t k = 0; k < in.size(); ++k) {
    result.push_back(in[k].defined() ? in[k].detach().clone() : in[k]);
    if (directions[k].defined()) result[k].add_(directions[k], step);
  }
  return result;
}

/// The tangent of `scalar`, by forward-mode differentiation, whether or not gradients are recorded.
double tangent_of(const ScalarFunction& scalar, const Tensors& in, const Tensors& directions,
                  bool records) {
  const autograd::forward_ad::DualLevel level;
  Tensors duals = moved(in, directions, 0);
  for (size_t k = 0; k < in.size(); ++k)
    if (directions[k].defined())
      duals[k] = autograd::forward_ad::make_dual(duals[k].requires_grad_(records), directions[k]);
  const Tensor tangent = scalar(duals)._fw_grad(0);
  return tangent.defined() ? tangent.item<double>() : 0;
}

/// The row's results, undefined in place of those that never require a gradient.
Tensors differentiable_results(const Row& row, const Tensors& in, const Tensors& directions,
                               const Tensors& arguments) {
  Tensors leaves = moved(in, directions, 0);
  for (size_t k = 0; k < in.size(); ++k)
    if (directions[k].defined()) leaves[k].requires_grad_();
  const Tensors recorded = row.call(leaves);
  Tensors results = row.call(arguments);
  for (size_t i = 0; i < results.size(); ++i)
    if (!recorded[i].defined() || !recorded[i].requires_grad()) results[i] = Tensor();
  return results;
}

TEST_P(OpGradients, TangentsMatchFiniteDifferences) {
  const Row& row = GetParam();
  if (row.orders < 1) GTEST_SKIP() << "the op has no derivative";
  for_each_case(row, [&](const Tensors& in, const std::vector<size_t>& wanted,
                         const std::string& description) {
    const Tensors directions = directions_of(in, wanted);
    const auto scalar = [&](const Tensors& t) {
      return weighted(differentiable_results(row, in, directions, t), false, true);
    };
    if (!scalar(in).defined()) return;
    constexpr double kStep = 1e-5;
    const auto at = [&](double step) { return scalar(moved(in, directions, step)).item<double>(); };
    const double expected = (at(kStep) - at(-kStep)) / (2 * kStep);
    if (std::isnan(expected)) return;  // a mean of no elements
    for (const bool records : {false, true}) {
      double tangent = 0;
      try {
        tangent = tangent_of(scalar, in, directions, records);
      } catch (const NotImplementedError&) {
        if (row.orders < 2) continue;  // its backward kernel has no derivative
        throw;
      }
      EXPECT_NEAR(tangent, expected, 5e-7 * (1 + std::fabs(expected)))
          << description << (records ? ", recorded" : ", not recorded");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Rows, OpGradients, ::testing::ValuesIn(rows()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::testing
