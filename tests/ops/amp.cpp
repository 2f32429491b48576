// Unscaling of gradients and the update of their scale.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/operators.h"
#include "tests/ops/large.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor number(double value, Device device, ScalarType dtype = kFloat) {
  return full({}, value, TensorOptions(dtype).device(device));
}

/// The unscaled tensors and, in their dtype, found_inf.
Tensors unscaled(Tensors list, double inv_scale) {
  const Device device = list[0].device();
  const ScalarType dtype = list[0].scalar_type();
  for (Tensor& tensor : list) tensor = tensor.detach().clone();
  Tensor found = number(0, device);
  _amp_foreach_non_finite_check_and_unscale_(list, found, number(inv_scale, device));
  list.push_back(found.to(dtype));
  return list;
}

Row unscale_row() {
  Row row;
  row.name = "amp_unscale";
  row.covers = {"_amp_foreach_non_finite_check_and_unscale_"};
  row.cases = {{{{3, 5}}}, {{{7}}, {{}}, {{0, 3}}, {{70, 33}}, {{2, 1, 4}}}};
  row.call = [](const Tensors& in) { return unscaled(in, 0.375); };
  row.reference = [](const Arrays& in) {
    Arrays out = in;
    double found = 0;
    for (Array& array : out)
      for (double& x : array.values) {
        found = std::isfinite(x) ? found : 1;
        x *= 0.375;
      }
    out.push_back({{}, {found}});
    return out;
  };
  row.orders = 0;
  row.refusals = {{[] { unscaled({ones({2}, kLong)}, 1); }, "not implemented for 'Long'"},
                  {[] {
                     Tensor found = zeros({2});
                     _amp_foreach_non_finite_check_and_unscale_({ones({2})}, found, ones({}));
                   },
                   "found_inf must be a 1-element tensor."},
                  {[] {
                     Tensor found = zeros({});
                     _amp_foreach_non_finite_check_and_unscale_({ones({2})}, found,
                                                                ones({}, kDouble));
                   },
                   "inv_scale must be a float tensor."}};
  return row;
}

/// The scales after steps with and without inf.
Row update_row() {
  Row row;
  row.name = "amp_update_scale";
  row.covers = {"_amp_update_scale_"};
  row.cases = {{{{1}, Draw::kSmall}}};
  row.call = [](const Tensors& in) {
    const Device device = in[0].device();
    Tensor scale = in[0].detach().to(kFloat, false, true), tracker = number(0, device, kInt);
    Tensors out;
    for (const double found : {0, 0, 1, 0, 0, 0, 2, 0}) {
      _amp_update_scale_(scale, tracker, number(found, device), 2, 0.25, 2);
      out.push_back(in[0].is_floating_point() ? scale.to(in[0].scalar_type(), false, true)
                                              : scale.clone());
    }
    return out;
  };
  row.reference = [](const Arrays& in) {
    const double factors[] = {1, 2, 0.5, 0.5, 1, 1, 0.25, 0.25};
    Arrays out;
    for (const double factor : factors) out.push_back({{1}, {in[0].values[0] * factor}});
    return out;
  };
  row.orders = 0;
  row.slack = 2;
  row.refusals = {{[] {
                     Tensor scale = ones({}), tracker = ones({}, kLong);
                     _amp_update_scale_(scale, tracker, ones({}), 2, 0.5, 2);
                   },
                   "growth_tracker must be an int tensor."},
                  {[] {
                     Tensor scale = ones({2}), tracker = ones({}, kInt);
                     _amp_update_scale_(scale, tracker, ones({}), 2, 0.5, 2);
                   },
                   "current_scale must be a 1-element tensor."}};
  return row;
}

const Register registered_amp[] = {Register(unscale_row()), Register(update_row())};

/// Unscales many elements, the last of which is infinite in the second call; then the scale falls.
LargeCase large_unscale(ScalarType dtype) {
  const Large x = large({301, 257}, 61);
  Large with_inf = x;
  with_inf.values.back() = kInf;
  Array scaled{x.sizes, x.values}, scaled_with_inf{x.sizes, with_inf.values};
  for (Array* array : {&scaled, &scaled_with_inf})
    for (double& value : array->values) value *= 0.5;
  const Tensor finite = x.tensor(dtype), infinite = with_inf.tensor(dtype);
  const auto call = [=] {
    Tensors results;
    Tensor scale = full({}, 8, kFloat), tracker = zeros({}, kInt);
    for (const Tensor& gradient : {finite, infinite}) {
      const Tensor result = gradient.clone();
      Tensor found = zeros({});
      _amp_foreach_non_finite_check_and_unscale_({result}, found, full({}, 0.5, kFloat));
      _amp_update_scale_(scale, tracker, found, 2, 0.25, 1);
      results.push_back(result);
      results.push_back(scale.clone());
    }
    return results;
  };
  return {call, {scaled, Array{{}, {16}}, scaled_with_inf, Array{{}, {4}}}};
}
const RegisterLarge registered_large_amp({"amp", {"AmpUnscale", "AmpUpdateScale"}, large_unscale});

TEST(AmpUnscale, FindsEveryNonFiniteElement) {
  for (const Device device : devices())
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16})
      for (const int64_t at : {0, 6, 7, 1023, 1024, 70000, 199999}) {
        const Tensor large = ones({200000}, TensorOptions(dtype).device(device));
        const Tensor small = ones({3}, TensorOptions(dtype).device(device));
        EXPECT_EQ(unscaled({small, large}, 0.5).back().item<double>(), 0);
        large[at] = at % 2 ? -kInf : std::nan("");
        const Tensors out = unscaled({small, large}, 0.5);
        EXPECT_EQ(out.back().item<double>(), 1) << name_of(dtype) << " at " << at;
        EXPECT_EQ(out[1].eq(0.5).sum().item<int64_t>(), 199999);
        EXPECT_EQ(unscaled({large, small}, 1).back().item<double>(), 1);
      }
}

TEST(AmpUnscale, WritesTensorsOfAnyLayoutAndManyAtOnce) {
  for (const Device device : devices()) {
    const Tensor base = ones({4, 6}, device);
    Tensors list{base.slice(1, 0, 6, 2), base.slice(1, 1, 6, 4)};
    for (int i = 0; i < 1100; ++i) list.push_back(ones({i % 5}, device));
    list.push_back(ones({2}, TensorOptions(kBFloat16).device(device)));
    Tensor found = number(0, device);
    _amp_foreach_non_finite_check_and_unscale_(list, found, number(0.5, device));
    EXPECT_EQ(base.sum().item<double>(), 24 - 0.5 * (12 + 8));
    for (size_t i = 2; i < list.size(); ++i) EXPECT_TRUE(list[i].eq(0.5).all().item<bool>()) << i;
    EXPECT_EQ(found.item<double>(), 0);
    EXPECT_GT(list[3]._version(), 0);
  }
}

TEST(AmpUpdateScale, DoesNotGrowToInf) {
  for (const Device device : devices()) {
    Tensor scale = number(3e38, device), tracker = number(1, device, kInt);
    _amp_update_scale_(scale, tracker, number(0, device), 2, 0.5, 2);
    EXPECT_EQ(scale.item<float>(), 3e38f);
    EXPECT_EQ(tracker.item<int>(), 0);
  }
}

}  // namespace
}  // namespace hearth::testing
