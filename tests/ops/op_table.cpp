// What every operator must pass, derived from its row.
#include "tests/support/op_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/call.h"

namespace hearth::testing {
namespace {

constexpr Form kForms[] = {Form::kContiguous, Form::kTransposed, Form::kSliced, Form::kExpanded};

class OpTable : public ::testing::TestWithParam<Row> {};

/// Calls f(case number, dtype, device, form) for everything a row asks for.
template <class F>
void for_each_variant(const Row& row, F f) {
  for (const Device device : devices())
    for (const ScalarType dtype : dtypes_in(row.dtypes))
      for (const Form form : kForms)
        for (size_t i = 0; i < row.cases.size(); ++i) f(i, dtype, device, form);
}

TEST_P(OpTable, AgreesWithItsReference) {
  const Row& row = GetParam();
  if (!row.reference) GTEST_SKIP() << "has tests of its own";
  for_each_variant(row, [&](size_t i, ScalarType dtype, Device device, Form form) {
    const Tensors in = make_inputs(row.cases[i], dtype, device, form, 1);
    const Arrays before = arrays_of(in);
    const Tensors out = row.call(in);
    const Arrays wanted = row.reference(before);
    const std::string what = describe(row, i, dtype, device, form);
    ASSERT_EQ(out.size(), wanted.size()) << what;
    for (size_t k = 0; k < out.size(); ++k) {
      expect_close(out[k], wanted[k], row.slack, what);
      EXPECT_EQ(out[k].device(), device) << what;
      // What numbers and 0-d tensors do to the dtype is checked by OpDtypes.
      const bool mixed =
          row.cases[i][0].draw == Draw::kIndex || row.cases[i][0].draw == Draw::kBool;
      if (!mixed) {
        EXPECT_EQ(out[k].scalar_type(), result_dtype(row, k, dtype)) << what;
      }
    }
    const Arrays after = arrays_of(in);
    for (size_t k = 0; k < in.size(); ++k)
      EXPECT_EQ(before[k].values, after[k].values) << what << " changed input " << k;
  });
}

/// Whether the sizes of some result depend on data, so that a meta tensor cannot have them.
bool has_dynamic_shapes(const Row& row) {
  // Made of other ops; their own records do not say.
  static const std::set<std::string> composed{"_unique2", "bincount", "masked_select",
                                              "unique_consecutive", "unique_dim"};
  if (composed.count(row.name) > 0) return true;
  for (const OpRecord* op : all_ops())
    if (std::count(row.covers.begin(), row.covers.end(), full_name(*op->info)) > 0 &&
        op->info->effect == Effect::kDynamicShape)
      return true;
  return false;
}

TEST_P(OpTable, MetaPredictsSizesAndDtypes) {
  const Row& row = GetParam();
  for (size_t i = 0; i < row.cases.size(); ++i) {
    const Tensors in =
        make_inputs(row.cases[i], dtypes_in(row.dtypes)[0], Device("cpu"), Form::kTransposed, 1);
    Tensors meta;
    for (const Tensor& t : in)
      meta.push_back(t.defined() ? empty_strided(t.sizes(), t.strides(), t.options().device(kMeta))
                                 : Tensor());
    const Tensors out = row.call(in);
    Tensors predicted;
    try {
      predicted = row.call(meta);
    } catch (const NotImplementedError& error) {
      EXPECT_TRUE(has_dynamic_shapes(row)) << row.name << " on meta: " << error.what();
      continue;
    }
    for (size_t k = 0; k < out.size(); ++k) {
      EXPECT_TRUE(predicted[k].is_meta());
      EXPECT_EQ(predicted[k].sizes().vec(), out[k].sizes().vec()) << row.name;
      EXPECT_EQ(predicted[k].strides().vec(), out[k].strides().vec()) << row.name;
      EXPECT_EQ(predicted[k].scalar_type(), out[k].scalar_type()) << row.name;
    }
  }
}

/// A number from a differentiable result: fixed weights make every element count differently.
/// Squared, even a linear op has a gradient that depends on its inputs.
/// What requires no gradient is left out unless `constants` count too.
Tensor weighted(const Tensors& out, bool squared = false, bool constants = false) {
  Tensor total;
  double weight = 0.7;
  for (const Tensor& t : out) {
    if (!t.defined() || !t.is_floating_point() || !(constants || t.requires_grad())) continue;
    Tensor weights = empty(t.sizes(), kDouble);
    for (int64_t i = 0; i < weights.numel(); ++i) {
      weight = weight * 1.37 - 0.81;
      if (std::fabs(weight) > 2) weight *= 0.31;
      weights.data_ptr<double>()[i] = weight;
    }
    const Tensor part = (squared ? t.mul(t) : t).mul(weights.to(t.device(), kDouble)).sum();
    total = total.defined() ? total.add(part) : part;
  }
  return total;
}

using ScalarFunction = std::function<Tensor(const Tensors&)>;

#if defined(HEARTH_FEW_FINITE_DIFFERENCES)
constexpr size_t kCheckedElements = 2;
#else
constexpr size_t kCheckedElements = std::numeric_limits<size_t>::max();
#endif

/// The gradients of `scalar` with respect to the wanted inputs; empty if there is none.
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

/// The value of `scalar` with one element of one input moved by delta.
double moved(const ScalarFunction& scalar, const Tensors& in, const std::vector<size_t>& wanted,
             size_t input, int64_t element, double delta) {
  Tensors fresh;
  for (const Tensor& t : in) fresh.push_back(t.defined() ? t.detach().clone() : t);
  fresh[input].view({-1}).select(0, element).add_(delta);
  for (size_t i : wanted) fresh[i].requires_grad_();
  return scalar(fresh).item<double>();
}

/// Compares gradients of `scalar` with central differences over every element of the wanted inputs;
/// on other devices with those on the CPU, unless the row is random.
void expect_gradients(const Row& row, const ScalarFunction& scalar, const Tensors& in,
                      const std::vector<size_t>& wanted, const std::string& what,
                      double tolerance) {
  const std::vector<Array> analytic = analytic_gradients(scalar, in, wanted);
  if (analytic.empty()) {
    EXPECT_FALSE(promises_gradients(row)) << what << ": the result requires no gradient";
    return;
  }
  constexpr double kStep = 1e-5;
  const bool by_differences = in[wanted[0]].is_cpu() || !row.reference;
  std::vector<Array> expected;
  if (!by_differences) {
    Tensors here;
    for (const Tensor& t : in) here.push_back(t.defined() ? t.cpu() : t);
    expected = analytic_gradients(scalar, here, wanted);
  }
  for (size_t k = 0; k < wanted.size(); ++k)
    for (size_t e = 0; e < std::min(analytic[k].values.size(), kCheckedElements); ++e) {
      const auto at = [&](double delta) {
        return moved(scalar, in, wanted, wanted[k], int64_t(e), delta);
      };
      const double reference =
          by_differences ? (at(kStep) - at(-kStep)) / (2 * kStep) : expected[k].values[e];
      EXPECT_NEAR(analytic[k].values[e], reference, tolerance * (1 + std::fabs(reference)))
          << what << ": gradient of input " << wanted[k] << ", element " << e;
    }
}

TEST_P(OpTable, GradientsAreThoseOfFiniteDifferences) {
  const Row& row = GetParam();
  if (row.orders < 1) GTEST_SKIP() << "has no derivative";
  for (const Device device : devices())
    for (size_t i = 0; i < row.cases.size(); ++i) {
      const Tensors in = make_inputs(row.cases[i], kDouble, device, Form::kContiguous, 5);
      const auto wanted = differentiable_inputs(row.cases[i], in);
      if (wanted.empty()) continue;
      expect_gradients(
          row, [&](const Tensors& t) { return weighted(row.call(t)); }, in, wanted,
          describe(row, i, kDouble, device, Form::kContiguous), 2e-7);
    }
}

/// The gradients of a weighted sum whose weights, and so the outputs' gradients, lie in memory in
/// the reverse order of dimensions.
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
    const Tensor part = out.mul(weights).sum();
    total = total.defined() ? total.add(part) : part;
  }
  std::vector<Array> result;
  if (!total.defined()) return result;
  for (const Tensor& grad : autograd::grad({total}, inputs, {}, {}, false, true))
    result.push_back(grad.defined() ? to_array(grad) : Array());
  return result;
}

enum class Layout { kReversed, kGaps, kChannelsLast };

/// The same tensors elsewhere: their dimensions in reverse order in memory, or with gaps, or as
/// images whose channels lie together. Nothing where that changes none.
Tensors elsewhere(Tensors tensors, Layout layout) {
  bool changed = layout != Layout::kChannelsLast;
  for (Tensor& t : tensors) {
    if (!t.defined()) continue;
    if (layout == Layout::kReversed) t = t.numpy_T().contiguous().numpy_T();
    if (layout == Layout::kGaps) t = stack({t, t}, -1).select(-1, 0);
    if (layout != Layout::kChannelsLast || t.dim() != 4) continue;
    t = t.contiguous(MemoryFormat::ChannelsLast);
    changed |= !t.is_contiguous();
  }
  return changed ? tensors : Tensors();
}

TEST_P(OpTable, GradientsDoNotDependOnTheLayout) {
  const Row& row = GetParam();
  if (row.orders < 1 || !row.reference) GTEST_SKIP() << "has no derivative, or a random one";
  for (const Device device : devices())
    for (size_t i = 0; i < row.cases.size(); ++i) {
      const Tensors plain = make_inputs(row.cases[i], kDouble, device, Form::kContiguous, 5);
      const auto wanted = differentiable_inputs(row.cases[i], plain);
      if (wanted.empty()) continue;
      const std::vector<Array> expected = gradients_of(row, plain, wanted);
      for (const Layout layout : {Layout::kReversed, Layout::kGaps, Layout::kChannelsLast}) {
        const Tensors moved = elsewhere(plain, layout);
        if (moved.empty()) continue;
        const std::vector<Array> got =
            gradients_of(row, moved, wanted, layout == Layout::kChannelsLast);
        ASSERT_EQ(got.size(), expected.size());
        for (size_t k = 0; k < got.size(); ++k)
          for (size_t e = 0; e < got[k].values.size(); ++e)
            EXPECT_NEAR(got[k].values[e], expected[k].values[e],
                        1e-10 * (1 + std::fabs(expected[k].values[e])))
                << describe(row, i, kDouble, device, Form::kSliced) << " layout " << int(layout)
                << ": gradient of input " << wanted[k] << ", element " << e;
      }
    }
}

bool vanish(const std::vector<Array>& gradients) {
  for (const Array& gradient : gradients)
    for (const double v : gradient.values)
      if (v != 0) return false;
  return true;
}

TEST_P(OpTable, SecondDerivativesAreThoseOfFiniteDifferences) {
  const Row& row = GetParam();
  if (row.orders < 2) GTEST_SKIP() << "has no second derivative";
  for (const Device device : devices())
    for (size_t i = 0; i < row.cases.size(); ++i) {
      const Tensors in = make_inputs(row.cases[i], kDouble, device, Form::kContiguous, 5);
      const auto wanted = differentiable_inputs(row.cases[i], in);
      if (wanted.empty()) continue;
      const auto squared = [&](const Tensors& t) { return weighted(row.call(t), true); };
      if (vanish(analytic_gradients(squared, in, wanted))) continue;
      const auto first_order = [&](const Tensors& t) {
        autograd::variable_list inputs;
        for (size_t k : wanted) inputs.push_back(t[k]);
        // A gradient without a graph shows in the differences.
        return weighted(autograd::grad({squared(t)}, inputs, {}, {}, true, true), false, true);
      };
      expect_gradients(row, first_order, in, wanted,
                       describe(row, i, kDouble, device, Form::kContiguous) + " second order",
                       1e-6);
    }
}

TEST_P(OpTable, RefusesWhatItCannotDo) {
  for (const Refusal& refusal : GetParam().refusals) {
    try {
      refusal.call();
      ADD_FAILURE() << GetParam().name << " should have said: " << refusal.says;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(refusal.says), std::string::npos)
          << GetParam().name << " said: " << error.what() << "\nexpected: " << refusal.says;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, OpTable, ::testing::ValuesIn(rows()),
                         [](const auto& test) { return test.param.name; });

TEST(OpCoverage, EveryOpHasARow) {
  std::set<std::string> covered;
  for (const Row& row : rows()) covered.insert(row.covers.begin(), row.covers.end());
  for (const OpRecord* op : all_ops())
    EXPECT_TRUE(covered.count(full_name(*op->info)))
        << "no row in tests/ops covers the op \"" << full_name(*op->info) << "\"";
}

}  // namespace
}  // namespace hearth::testing
