#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hearth/tensor_literal.h"
#include "tests/ops/reduction_reference.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}
double smallest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}
GroupFunction index_of(double (*best)(const std::vector<double>&)) {
  return [best](const std::vector<double>& values) {
    return double(std::find(values.begin(), values.end(), best(values)) - values.begin());
  };
}

using Amax = Tensor (*)(const Tensor&, IntArrayRef, bool);
using Argmax = Tensor (*)(const Tensor&, std::optional<int64_t>, bool);

Row extremes_row(std::string name, std::string covers, Amax op, ReductionArgs args,
                 double (*reference)(const std::vector<double>&)) {
  Row row = reduction_row(
      std::move(name), covers,
      [op, args](const Tensor& x) { return op(x, args.dims, args.keepdim); }, args, reference,
      Draw::kDistinct);
  row.dtypes = dtypes::kRealAndBool;
  row.refusals = {{[op] {
                     op(ones({0, 3}), {}, false);
                   },
                   covers + "(): Expected reduction dim to be specified for input.numel() == 0."},
                  {[op] {
                     op(ones({0, 3}), {0}, false);
                   },
                   covers + "(): Expected reduction dim 0 to have non-zero size."},
                  {[op] {
                     op(ones({2, 3}), {0, -2}, false);
                   },
                   "dim 0 appears multiple times"}};
  return row;
}

Row arg_row(std::string name, std::string covers, Argmax op, std::optional<int64_t> dim,
            bool keepdim, double (*reference)(const std::vector<double>&)) {
  const ReductionArgs args{dim ? std::vector<int64_t>{*dim} : std::vector<int64_t>{}, keepdim};
  Row row = reduction_row(
      std::move(name), covers, [=](const Tensor& x) { return op(x, dim, keepdim); }, args,
      index_of(reference), Draw::kDistinct);
  row.dtypes = dtypes::kReal;
  row.results = {Result::kLong};
  row.orders = 0;
  row.refusals = {
      {[op] {
         op(ones({0, 3}), {}, false);
       },
       covers + "(): Expected reduction dim to be specified for input.numel() == 0."},
      {[op] {
         op(ones({0, 3}), 0, false);
       },
       covers + "(): Expected reduction dim 0 to have non-zero size."},
      {[op] { op(ones({3}, kBool), {}, false); }, covers + "(): does not support bool input"}};
  return row;
}

Row aminmax_row(std::string name, std::optional<int64_t> dim, bool keepdim) {
  Row row = reduction_row(std::move(name), "aminmax", {}, {}, smallest, Draw::kDistinct);
  row.dtypes = dtypes::kRealAndBool;
  row.call = [=](const Tensors& in) {
    const auto [low, high] = in[0].aminmax(dim, keepdim);
    return Tensors{low, high};
  };
  row.reference = [=](const Arrays& in) {
    const ReductionArgs args{dim ? std::vector<int64_t>{*dim} : std::vector<int64_t>{}, keepdim};
    return Arrays{reduce_groups(in[0], args, smallest), reduce_groups(in[0], args, largest)};
  };
  row.refusals = {{[] { ones({0}).aminmax(); },
                   "aminmax(): cannot compute aminmax over an empty dimension as the operation has "
                   "no identity."},
                  {[] {
                     ones({0, 3}).aminmax(0);
                   },
                   "aminmax: Expected reduction dim 0 to have non-zero size."}};
  return row;
}

Row amax_with_out() {
  Row row = extremes_row("amax", "amax", &hearth::amax, {}, largest);
  row.cases.push_back({{{}, Draw::kDistinct}});
  row.out = [](Tensor& out, const Tensors& in) { amax_out(out, in[0]); };
  return row;
}

Row argmax_with_out() {
  Row row = arg_row("argmax", "argmax", &hearth::argmax, {}, false, largest);
  row.cases.push_back({{{}, Draw::kDistinct}});
  row.out = [](Tensor& out, const Tensors& in) { argmax_out(out, in[0]); };
  return row;
}

const Register registered_minmax[] = {
    Register(amax_with_out()),
    Register(extremes_row("amax_dims", "amax", &hearth::amax, {{0, -1}, true}, largest)),
    Register(extremes_row("amin", "amin", &hearth::amin, {}, smallest)),
    Register(extremes_row("amin_dim", "amin", &hearth::amin, {{1}}, smallest)),
    Register(argmax_with_out()),
    Register(arg_row("argmax_dim", "argmax", &hearth::argmax, 1, false, largest)),
    Register(arg_row("argmin", "argmin", &hearth::argmin, {}, true, smallest)),
    Register(arg_row("argmin_dim", "argmin", &hearth::argmin, -2, true, smallest)),
    Register(aminmax_row("aminmax", {}, false)),
    Register(aminmax_row("aminmax_dim", -1, true)),
};

TEST(Extremes, TiesShareTheGradient) {
  for (const Device device : devices()) {
    const Tensor x = arange(4, kFloat).fmod(3).reshape({2, 2}).to(device, kFloat);
    const Tensor leaf = x.fmod(2).requires_grad_();  // [[0, 1], [0, 0]]
    leaf.amin({0, 1}).backward();
    EXPECT_TRUE(leaf.grad().cpu().equal(leaf.detach().cpu().eq(0).to(kFloat).div(3)));
  }
}

TEST(Extremes, NaNIsMaximumAndMinimum) {
  const Tensor x = full({1}, std::nan(""));
  const Tensor y = cat({ones({2}), x, ones({1}), x});
  EXPECT_TRUE(std::isnan(y.amax().item<float>()));
  EXPECT_TRUE(std::isnan(y.amin(0).item<float>()));
  EXPECT_EQ(y.argmax().item<int64_t>(), 2);
  EXPECT_EQ(y.argmin(0).item<int64_t>(), 2);
}

TEST(Extremes, OutForms) {
  const Tensor x = arange(6, kFloat).reshape({2, 3});
  Tensor values = empty({0}), indices = empty({0}, kLong);
  max_out(values, indices, x, 1, true);
  EXPECT_TRUE(values.equal(full({2, 1}, 2.0).add(arange(0, 6, 3).reshape({2, 1}))));
  EXPECT_TRUE(indices.equal(full({2, 1}, 2, kLong)));
  min_out(values, indices, x, 0);
  EXPECT_TRUE(values.equal(arange(3, kFloat)));
  EXPECT_EQ(max_out(values, x).item<float>(), 5);
  EXPECT_TRUE(min_out(values, x, ones({2, 3})).equal(x.minimum(ones({2, 3}))));
  EXPECT_THROW(max_out(values, values, x, 1), Error);
}

TEST(Extremes, OutputsMayAlternateInMemoryButNotOverlap) {
  const Tensor x = arange(12, kLong).view({4, 3}), grid = full({5, 2}, -1, kLong);
  Tensor values = grid.narrow(0, 0, 4).select(1, 0), indices = grid.narrow(0, 0, 4).select(1, 1);
  max_out(values, indices, x, 1);
  EXPECT_TRUE(grid.equal(tensor({2, 2, 5, 2, 8, 2, 11, 2, -1, -1}, kLong).view({5, 2})));
  Tensor next_values = grid.narrow(0, 1, 4).select(1, 0),
         same_values = grid.narrow(0, 0, 4).select(1, 0);
  EXPECT_ERROR(max_out(values, next_values, x, 1), "single memory location");
  EXPECT_ERROR(max_out(values, same_values, x, 1), "single memory location");
  // Elements of different sizes.
  const Tensor memory = zeros({4, 2}, kLong), parts = memory.view(kFloat);
  Tensor places = memory.select(1, 0), maxima = parts.select(1, 2), inside = parts.select(1, 1);
  max_out(maxima, places, x.to(kFloat), 1);
  EXPECT_TRUE(maxima.equal(tensor({2.f, 5.f, 8.f, 11.f})));
  EXPECT_TRUE(places.equal(full({4}, 2, kLong)));
  EXPECT_ERROR(max_out(inside, places, x.to(kFloat), 1), "single memory location");
}

TEST(Extremes, AminmaxRefusesResultsInOneMemory) {
  const Tensor x = arange(4, kFloat).view({2, 2}), memory = zeros({3});
  Tensor min = memory.narrow(0, 0, 2), max = memory.narrow(0, 1, 2);
  const char* const text = "aminmax(): the `min` and `max` out= tensors must not overlap.";
  EXPECT_ERROR(aminmax_out(min, max, x, 1), text);
  EXPECT_ERROR(aminmax_out(min, min, x, 1), text);
}

}  // namespace
}  // namespace hearth::testing
