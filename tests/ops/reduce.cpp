#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/reduction_reference.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

double sum_of(const std::vector<double>& values) {
  double total = 0;
  for (double v : values) total += v;
  return total;
}
double mean_of(const std::vector<double>& values) { return sum_of(values) / double(values.size()); }
double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}
double smallest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}
double all_of(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v != 0; });
}
double any_of(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return v != 0; });
}

Row sum_row(std::string name, std::function<Tensor(const Tensor&)> op, ReductionArgs args) {
  Row row = reduction_row(std::move(name), "sum", std::move(op), args, sum_of);
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kSum};
  return row;
}

Row sum_all_row() {
  Row row = sum_row("sum", [](const Tensor& x) { return x.sum(); }, {});
  row.cases.push_back({{{}}});
  row.cases.push_back({{{0}}});
  row.cases.push_back({{{1000}}});
  return row;
}

Row sum_dim_row() {
  Row row = sum_row("sum_dim", [](const Tensor& x) { return x.sum(IntArrayRef{1}); }, {{1}});
  row.cases.push_back({{{3, 0, 2}}});
  row.cases.push_back({{{0, 3}}});
  row.out = [](Tensor& out, const Tensors& in) { sum_out(out, in[0], IntArrayRef{1}); };
  row.refusals = {{[] {
                     ones({2, 3}).sum(IntArrayRef{2});
                   },
                   "Dimension out of range (expected to be in range of [-2, 1], but got 2)"},
                  {[] {
                     ones({2, 3}).sum(IntArrayRef{1, -1});
                   },
                   "dim 1 appears multiple times in the list of dims"}};
  return row;
}

Row mean_row(std::string name, std::function<Tensor(const Tensor&)> op, ReductionArgs args) {
  Row row = reduction_row(std::move(name), "mean", std::move(op), args, mean_of);
  row.refusals = {{[] { ones({2}, kLong).mean(); },
                   "mean(): could not infer output dtype. Input dtype must be either a floating "
                   "point or complex dtype. "
                   "Got: Long"}};
  return row;
}

Row mean_all_row() {
  Row row = mean_row("mean", [](const Tensor& x) { return x.mean(); }, {});
  row.cases.push_back({{{}}});
  row.cases.push_back({{{0}}});
  return row;
}

/// A row for all or any of a whole tensor.
Row bool_row(std::string name, Tensor (*op)(const Tensor&),
             double (*reference)(const std::vector<double>&)) {
  Row row = reduction_row(name, name, op, {}, reference, Draw::kSmall);
  row.cases = {{{{4, 5}, Draw::kSmall}},
               {{{3, 67}}},
               {{{}, Draw::kSmall}},
               {{{0, 2}}},
               {{{2, 2}, Draw::kBool}}};
  row.dtypes = dtypes::kRealAndBool & ~(1u << unsigned(kByte));  // bytes have byte results
  row.results = {Result::kBool};
  row.orders = 0;
  return row;
}

Row extreme_row(std::string name, Tensor (*op)(const Tensor&),
                double (*reference)(const std::vector<double>&)) {
  Row row = reduction_row(name, name, op, {}, reference, Draw::kDistinct);
  row.dtypes = dtypes::kRealAndBool;
  row.cases.push_back({{{}, Draw::kDistinct}});
  row.refusals = {{[op] {
                     op(ones({0, 3}));
                   },
                   name + "(): Expected reduction dim to be specified for input.numel() == 0. "
                          "Specify the reduction dim with "
                          "the 'dim' argument."}};
  return row;
}

using ExtremeAlongDim = TensorPair (*)(const Tensor&, int64_t, bool);

Row extreme_dim_row(std::string name, std::string covers, ExtremeAlongDim op, int64_t dim,
                    bool keepdim, double (*reference)(const std::vector<double>&)) {
  Row row;
  row.name = std::move(name);
  row.covers = {std::move(covers)};
  row.cases = {{{{4, 5}, Draw::kDistinct}},
               {{{2, 3, 4}, Draw::kDistinct}},
               {{{2, 1}, Draw::kDistinct}},
               {{{0, 3}, Draw::kDistinct}}};
  row.dtypes = dtypes::kReal;
  row.results = {Result::kSame, Result::kLong};
  row.call = [=](const Tensors& in) {
    const auto [values, indices] = op(in[0], dim, keepdim);
    return Tensors{values, indices};
  };
  row.reference = [=](const Arrays& in) {
    const ReductionArgs args{{dim}, keepdim};
    return Arrays{
        reduce_groups(in[0], args, reference),
        reduce_groups(in[0], args, [&](const std::vector<double>& group) {
          return double(std::find(group.begin(), group.end(), reference(group)) - group.begin());
        })};
  };
  row.refusals = {{[op] {
                     op(ones({3, 0}), 1, false);
                   },
                   "(): Expected reduction dim 1 to have non-zero size."},
                  {[op] {
                     op(ones({3, 2}), 2, false);
                   },
                   "Dimension out of range (expected to be in range of [-2, 1], but got 2)"}};
  return row;
}

Row sum_to_size_row() {
  Row row;
  row.name = "sum_to_size";
  row.cases = {{{{2, 3, 4}}, {{3, 1}}}, {{{3, 4}}, {{3, 4}}}, {{{2, 3}}, {{}}}};
  row.call = [](const Tensors& in) { return Tensors{in[0].sum_to_size(in[1].sizes())}; };
  row.reference = [](const Arrays& in) {
    const size_t count = in[0].sizes.size(), shift = count - in[1].sizes.size();
    Array out{in[1].sizes, std::vector<double>(in[1].values.size(), 0.0)};
    for (int64_t i = 0; i < int64_t(in[0].values.size()); ++i) {
      const Position full = position_of(i, in[0].sizes);
      Position position(full.begin() + int64_t(shift), full.end());
      for (size_t d = 0; d < position.size(); ++d)
        if (out.sizes[d] == 1) position[d] = 0;
      out.values[size_t(linear_of(position, out.sizes))] += in[0].values[size_t(i)];
    }
    return Arrays{out};
  };
  row.slack = 4;
  row.mixes_devices = true;  // of the second input, only the sizes are read
  row.refusals = {{[] {
                     ones({2, 3}).sum_to_size({2});
                   },
                   "size {[2]} is not expandable to size {[2, 3]}."}};
  return row;
}

const ExtremeAlongDim max_of = [](const Tensor& x, int64_t dim, bool keepdim) {
  return x.max(dim, keepdim);
};
const ExtremeAlongDim min_of = [](const Tensor& x, int64_t dim, bool keepdim) {
  return x.min(dim, keepdim);
};

const Register registered_reduce[] = {
    Register(sum_all_row()),
    Register(sum_dim_row()),
    Register(sum_row("sum_keepdim", [](const Tensor& x) { return x.sum(IntArrayRef{-1}, true); },
                     {{-1}, true})),
    Register(sum_row("sum_dims",
                     [](const Tensor& x) {
                       return x.sum(IntArrayRef{0, -1});
                     },
                     {{0, -1}})),
    Register(sum_to_size_row()),
    Register(mean_all_row()),
    Register(mean_row("mean_dim", [](const Tensor& x) { return x.mean(IntArrayRef{0}); }, {{0}})),
    Register(mean_row("mean_dims_keepdim",
                      [](const Tensor& x) {
                        return x.mean(IntArrayRef{-1, 0}, true);
                      },
                      {{-1, 0}, true})),
    Register(bool_row("all", &hearth::all, all_of)),
    Register(bool_row("any", &hearth::any, any_of)),
    Register(extreme_row(
        "max", [](const Tensor& x) { return x.max(); }, largest)),
    Register(extreme_row(
        "min", [](const Tensor& x) { return x.min(); }, smallest)),
    Register(extreme_dim_row("max_dim", "max_dim", max_of, 1, false, largest)),
    Register(extreme_dim_row("max_dim_keepdim", "max_dim", max_of, -1, true, largest)),
    Register(extreme_dim_row("min_dim", "min_dim", min_of, 1, false, smallest)),
    Register(extreme_dim_row("min_dim_keepdim", "min_dim", min_of, -1, true, smallest)),
};

TEST(Reduce, SumAndMeanWithADtype) {
  const Tensor x = full({3}, 1.75);
  EXPECT_EQ(x.sum(kLong).item<int64_t>(), 3);
  EXPECT_EQ(x.sum(kLong).scalar_type(), kLong);
  EXPECT_EQ(ones({70000}, kHalf).sum(kFloat).item<float>(), 70000);
  EXPECT_EQ(ones({3}, kLong).mean(kDouble).item<double>(), 1);
  EXPECT_TRUE(arange(-1, 2).sum(kBool).item<bool>());
  EXPECT_EQ(ones({2, 3}, kInt).sum_to_size({3}).scalar_type(), kLong);
}

TEST(Reduce, AnEmptyListOfDimensionsMeansAll) {
  EXPECT_EQ(ones({2, 3}).sum(IntArrayRef{}).item<float>(), 6);
}

TEST(Reduce, AllAndAnyOfBytesAreBytes) {
  EXPECT_EQ(ones({3}, kByte).all().scalar_type(), kByte);
  EXPECT_EQ(full({3}, 2, kByte).any().item<int64_t>(), 1);
  EXPECT_EQ(zeros({3}, kByte).any().item<int64_t>(), 0);
}

TEST(Reduce, AllHasNoGradient) { EXPECT_FALSE(ones({3}).requires_grad_().all().requires_grad()); }

TEST(Reduce, NaNIsMaximumAndMinimum) {
  Tensor x = arange(6, kFloat).reshape({2, 3});
  x.select(0, 1).select(0, 1).fill_(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(x.max().item<float>()));
  EXPECT_TRUE(std::isnan(x.min().item<float>()));
  const auto [values, indices] = x.max(1);
  EXPECT_EQ(values.select(0, 0).item<float>(), 2);
  EXPECT_TRUE(std::isnan(values.select(0, 1).item<float>()));
  EXPECT_EQ(indices.select(0, 1).item<int64_t>(), 1);
}

TEST(Reduce, TiesShareTheGradientOfMaxButNotOfMaxAlongADimension) {
  const Tensor x = zeros({4}).requires_grad_();
  x.max().backward();
  EXPECT_TRUE(x.grad().equal(full({4}, 0.25)));
  x.mutable_grad().reset();
  std::get<0>(x.max(0)).backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 1);
  EXPECT_EQ(x.grad().max().item<float>(), 1);
}

TEST(Reduce, OutIsTheDtypeOfTheComputation) {
  const Tensor x = tensor({0.75f, 1.5f, -2.5f});
  for (const ScalarType type : {kLong, kByte}) {
    Tensor out = zeros({}, type);
    sum_out(out, type == kByte ? x.abs() : x);  // 0 + 1 + 2 or 0 + 1 - 2
    EXPECT_EQ(out.item<int64_t>(), type == kByte ? 3 : -1);
  }
  Tensor complex_sum = zeros({}, kComplexFloat);
  EXPECT_ERROR(nansum_out(complex_sum, x), "\"nansum_cpu\" not implemented for 'ComplexFloat'");
  EXPECT_ERROR(x.nansum({}, false, kLong), "\"nansum_cpu\" not implemented for 'Long'");
  Tensor product = zeros({}, kLong), running = zeros({3}, kLong);
  prod_out(product, x.add(1));
  EXPECT_EQ(product.item<int64_t>(), 1 * 2 * -1);
  cumsum_out(running, x, 0);
  EXPECT_TRUE(running.equal(tensor({0, 1, -1})));
  cumprod_out(running, x.add(1), 0);
  EXPECT_TRUE(running.equal(tensor({1, 2, -2})));
}

TEST(Reduce, ComplexSumsAndMeans) {
  const Tensor x = full({4}, Scalar(complex<double>(1, -2)), kComplexDouble);
  EXPECT_EQ(x.sum().item<complex<double>>(), complex<double>(4, -8));
  EXPECT_EQ(x.mean().item<complex<double>>(), complex<double>(1, -2));
}

}  // namespace
}  // namespace hearth::testing
