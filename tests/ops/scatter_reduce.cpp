// scatter_reduce, index_reduce and segment_reduce.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

using Combination = double (*)(double, double);

/// A row for a reduction along dimension 1 whose indices repeat.
Row reduction_row(std::string reduce, Combination combine) {
  Row row;
  row.name = "scatter_reduce_" + reduce;
  row.covers = {"scatter_reduce." + reduce};
  const auto index = [](std::vector<int64_t> sizes, int64_t below) {
    return Input{std::move(sizes), Draw::kIndex, below};
  };
  row.cases = {{{{3, 5}}, index({3, 4}, 5), {{3, 4}}},
               {{{4, 2}}, index({2, 7}, 2), {{3, 8}}},
               {{{2, 3}}, index({0, 2}, 3), {{1, 2}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.slack = 8;
  row.gradient_slack = 8;
  row.orders = reduce == "prod" ? 2 : 1;
  row.call = [=](const Tensors& in) {
    return Tensors{in[0].scatter_reduce(1, in[1], in[2], reduce)};
  };
  row.reference = [=](const Arrays& in) {
    Array out = in[0];
    for (int64_t i = 0; i < int64_t(in[1].values.size()); ++i) {
      const Position from = position_of(i, in[1].sizes);
      Position to = from;
      to[1] = int64_t(in[1].values[size_t(i)]);
      double& element = out.values[size_t(linear_of(to, out.sizes))];
      element = combine(element, at(in[2], from));
    }
    return Arrays{out};
  };
  row.out = [=](Tensor& out, const Tensors& in) {
    scatter_reduce_out(out, in[0], 1, in[1], in[2], reduce);
  };
  row.inplace = [=](Tensor& self, const Tensors& in) {
    self.scatter_reduce_(1, in[1], in[2], reduce);
  };
  row.refusals = {
      {[] { ones({3}).scatter_reduce(0, zeros({1}, kLong), ones({1}), "add"); },
       "reduce argument must be either sum, prod, mean, amax or amin, got add"},
      {[=] { ones({3}).scatter_reduce(0, zeros({1}, kLong), ones({1}, kDouble), reduce); },
       "scatter(): Expected self.dtype to be equal to src.dtype"},
      {[=] { ones({3}).scatter_reduce(0, full({1}, 3, kLong), ones({1}), reduce); },
       "index 3 is out of bounds for dimension 0 with size 3"}};
  return row;
}

const Register registered_reductions[] = {
    Register(reduction_row("prod", [](double a, double b) { return a * b; })),
    Register(reduction_row("amax", [](double a, double b) { return std::max(a, b); })),
    Register(reduction_row("amin", [](double a, double b) { return std::min(a, b); }))};

Tensor repeated_index() { return tensor({0, 1, 0}, kLong); }

TEST(ScatterReduce, WithAndWithoutSelf) {
  const Tensor x = tensor({5.f, 6.f, 7.f}), src = tensor({1.f, 2.f, 3.f});
  const auto reduced = [&](const char* name, bool include_self) {
    return x.scatter_reduce(0, repeated_index(), src, name, include_self);
  };
  EXPECT_TRUE(reduced("sum", true).equal(tensor({9.f, 8.f, 7.f})));
  EXPECT_TRUE(reduced("prod", true).equal(tensor({15.f, 12.f, 7.f})));
  EXPECT_TRUE(reduced("mean", true).equal(tensor({3.f, 4.f, 7.f})));
  EXPECT_TRUE(reduced("amax", true).equal(tensor({5.f, 6.f, 7.f})));
  EXPECT_TRUE(reduced("amin", true).equal(tensor({1.f, 2.f, 7.f})));
  EXPECT_TRUE(reduced("sum", false).equal(tensor({4.f, 2.f, 7.f})));
  EXPECT_TRUE(reduced("prod", false).equal(tensor({3.f, 2.f, 7.f})));
  EXPECT_TRUE(reduced("mean", false).equal(tensor({2.f, 2.f, 7.f})));
  EXPECT_TRUE(reduced("amax", false).equal(tensor({3.f, 2.f, 7.f})));
  EXPECT_TRUE(reduced("amin", false).equal(tensor({1.f, 2.f, 7.f})));
}

TEST(ScatterReduce, IntegersAndSpecialValues) {
  const Tensor zero = zeros({2}, kLong), fives = full({3}, 5, kLong);
  EXPECT_TRUE(fives.scatter_reduce(0, zero, tensor({-8, -9}, kLong), "mean")
                  .equal(tensor({-4, 5, 5}, kLong)));
  EXPECT_TRUE(fives.scatter_reduce(0, zero, tensor({-8, -9}, kLong), "amax", false)
                  .equal(tensor({-8, 5, 5}, kLong)));
  const Tensor with_nan =
      tensor({5.f, NAN, 7.f}).scatter_reduce(0, repeated_index(), tensor({1.f, 2.f, NAN}), "amax");
  EXPECT_TRUE(with_nan.isnan().equal(tensor({true, true, false})));
  EXPECT_ERROR(ones({1}, kBool).scatter_reduce(0, zeros({1}, kLong), ones({1}, kBool), "mean"),
               "not implemented for 'Bool'");
}

/// The gradients of sum(scatter_reduce(...)) with respect to self and src.
std::vector<Tensor> scatter_gradients(const Tensor& self, const Tensor& index, const Tensor& src,
                                      const char* reduce, bool include_self) {
  const Tensor x = self.clone().requires_grad_(), s = src.clone().requires_grad_();
  const Tensor result = x.scatter_reduce(0, index, s, reduce, include_self);
  return autograd::grad({result.sum()}, {x, s});
}

TEST(ScatterReduce, GradientsOfZerosAndTies) {
  const Tensor index = tensor({0, 2}, kLong), x = tensor({1.f, 2.f, 3.f}), s = tensor({1.f, 3.f});
  const auto ties = scatter_gradients(x, index, s, "amax", true);
  EXPECT_TRUE(ties[0].equal(tensor({0.5f, 1.f, 0.5f})));
  EXPECT_TRUE(ties[1].equal(tensor({0.5f, 0.5f})));
  const auto means = scatter_gradients(x, index, s, "mean", false);
  EXPECT_TRUE(means[0].equal(tensor({0.f, 1.f, 0.f})));
  EXPECT_TRUE(means[1].equal(tensor({1.f, 1.f})));
  const auto one_zero =
      scatter_gradients(tensor({0.f, 2.f}), zeros({1}, kLong), tensor({3.f}), "prod", true);
  EXPECT_TRUE(one_zero[0].equal(tensor({3.f, 1.f})));
  EXPECT_TRUE(one_zero[1].equal(tensor({0.f})));
  const auto zero_of_src =
      scatter_gradients(tensor({2.f}), zeros({2}, kLong), tensor({0.f, 5.f}), "prod", true);
  EXPECT_TRUE(zero_of_src[1].equal(tensor({10.f, 0.f})));
}

/// Without self, an infinite element that equals the identity has its whole gradient, as in
/// PyTorch.
TEST(ScatterReduce, InfiniteExtremesWithoutSelfHaveTheirGradient) {
  const Tensor index = tensor({0, 1}, kLong), x = tensor({3.f, 1.f, 2.f}),
               s = tensor({-INFINITY, INFINITY});
  for (const char* reduce : {"amax", "amin"}) {
    const auto gradients = scatter_gradients(x, index, s, reduce, false);
    EXPECT_TRUE(gradients[0].equal(tensor({0.f, 0.f, 1.f}))) << reduce;
    EXPECT_TRUE(gradients[1].equal(tensor({1.f, 1.f}))) << reduce;
  }
}

TEST(IndexReduce, SlicesAndRefusals) {
  const Tensor source = arange(6, kFloat).view({3, 2}), x = ones({3, 2});
  const Tensor largest = x.index_reduce(0, repeated_index(), source, "amax");
  EXPECT_TRUE(largest.equal(tensor({4.f, 5.f, 2.f, 3.f, 1.f, 1.f}).view({3, 2})));
  EXPECT_TRUE(x.index_reduce(1, zeros({2}, kLong), source, "prod", false)
                  .select(1, 0)
                  .equal(tensor({0.f, 6.f, 20.f})));
  EXPECT_ERROR(
      x.index_reduce(0, repeated_index(), source, "sum"),
      "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got sum.");
  EXPECT_ERROR(x.index_reduce(0, zeros({2}, kLong), source, "mean"),
               "index_reduce_(): Number of indices (2) should be equal to source.size(dim): (3)");
  EXPECT_ERROR(x.index_reduce(0, repeated_index().to(kFloat), source, "mean"),
               "index_reduce_(): Expected dtype int32/int64 for index but got: Float");
  EXPECT_ERROR(x.index_reduce(0, repeated_index(), source.t().contiguous(), "mean"),
               "index_reduce_(): Number of indices (3) should be equal");
}

TEST(SegmentReduce, ReductionsOfSegments) {
  const Tensor x = tensor({1.f, 5.f, 2.f}), lengths = tensor({2, 1, 0}, kLong);
  EXPECT_TRUE(segment_reduce(x, "sum", lengths).equal(tensor({6.f, 2.f, 0.f})));
  EXPECT_TRUE(segment_reduce(x, "prod", lengths).equal(tensor({5.f, 2.f, 1.f})));
  EXPECT_TRUE(segment_reduce(x, "max", lengths).equal(tensor({5.f, 2.f, -INFINITY})));
  EXPECT_TRUE(segment_reduce(x, "min", lengths).equal(tensor({1.f, 2.f, INFINITY})));
  EXPECT_TRUE(segment_reduce(x, "mean", lengths).isnan().equal(tensor({false, false, true})));
  EXPECT_TRUE(segment_reduce(x, "mean", lengths, {}, {}, 0, false, Scalar(2))
                  .equal(tensor({4.f, 4.f, 2.f})));
  const Tensor rows = ones({3, 2}), offsets = tensor({0, 1, 3}, kLong);
  EXPECT_TRUE(segment_reduce(rows, "sum", {}, {}, offsets)
                  .equal(tensor({1.f, 1.f, 2.f, 2.f}).view({2, 2})));
  const Tensor of_rows = tensor({1, 2, 3, 0}, kLong).view({2, 2});
  EXPECT_TRUE(segment_reduce(ones({2, 3}), "sum", of_rows, {}, {}, 1)
                  .equal(tensor({1.f, 2.f, 3.f, 0.f}).view({2, 2})));
}

TEST(ScatterReduce, HalfNumbersAreAddedInFloat32) {
  for (const ScalarType type : {kHalf, kBFloat16}) {
    const Tensor zero = zeros({5000}, kLong), src = ones({5000}, type);
    const Tensor sum = zeros({2}, type).scatter_reduce(0, zero, src, "sum");
    EXPECT_TRUE(sum.equal(tensor({5000.f, 0.f}).to(type)));
    const Tensor mean = zeros({2}, type).scatter_reduce(0, zero, src, "mean", false);
    EXPECT_TRUE(mean.equal(tensor({1.f, 0.f}).to(type)));
  }
}

TEST(ScatterReduce, InPlaceKeepsTheSavedInput) {
  for (const char* reduce : {"prod", "amax", "amin", "mean", "sum"}) {
    const Tensor leaf = tensor({1.f, 4.f}).requires_grad_(), src = tensor({3.f});
    const Tensor zero = zeros({1}, kLong);
    const Tensor expected =
        autograd::grad({(leaf * 2).scatter_reduce(0, zero, src, reduce).sum()}, {leaf})[0];
    Tensor x = leaf * 2, y = leaf * 2;
    x.scatter_reduce_(0, zero, src, reduce).sum().backward();
    EXPECT_TRUE(leaf.grad().equal(expected)) << reduce;
    if (std::string(reduce) == "sum") continue;  // index_reduce_ has no sum
    EXPECT_TRUE(
        autograd::grad({y.index_reduce_(0, zero, src, reduce).sum()}, {leaf})[0].equal(expected));
  }
}

/// Expected: PyTorch 2.15's gradients.
TEST(ScatterReduce, InPlaceKeepsTheSavedInputIfOnlyTheSourceNeedsAGradient) {
  struct Case {
    const char* reduce;
    bool include_self;
    std::vector<float> gradient;
  };
  const float third = 1.f / 3;
  const Case cases[] = {{"sum", true, {1, 1, 1}},
                        {"prod", true, {3, 1, 1}},
                        {"mean", true, {third, 0.5f, third}},
                        {"amax", true, {0, 1, 1}},
                        {"amin", true, {0.5f, 0, 0}},
                        {"sum", false, {1, 1, 1}},
                        {"prod", false, {3, 1, 1}},
                        {"mean", false, {0.5f, 1, 0.5f}},
                        {"amax", false, {0, 1, 1}},
                        {"amin", false, {1, 1, 0}}};
  const Tensor index = tensor({0, 1, 0}, kLong);
  for (const auto& [reduce, include_self, gradient] : cases) {
    const Tensor src = tensor({1.f, 2.f, 3.f}).requires_grad_();
    Tensor x = full({3}, include_self ? 1.0 : 7.0), y = x.clone();
    x.scatter_reduce_(0, index, src, reduce, include_self).sum().backward();
    EXPECT_TRUE(src.grad().equal(tensor(gradient))) << reduce << include_self << src.grad();
    if (std::string(reduce) == "sum") continue;
    y.index_reduce_(0, index, src, reduce, include_self).sum().backward();
    EXPECT_TRUE(src.grad().equal(2 * tensor(gradient))) << reduce << include_self << src.grad();
  }
}

TEST(ScatterReduce, InPlaceRefusesSharedMemory) {
  Tensor x = ones({3});
  const Tensor zero = zeros({3}, kLong);
  EXPECT_ERROR(x.scatter_reduce_(0, zero, x, "amax"), "refer to a single memory location");
  EXPECT_ERROR(x.index_reduce_(0, zero, x, "amax"), "refer to a single memory location");
  Tensor begin = x.narrow(0, 0, 2);
  EXPECT_ERROR(begin.scatter_reduce_(0, zero, x.narrow(0, 1, 2), "amax"), "single memory location");
  const Tensor grid = ones({3, 2});
  Tensor column = grid.select(1, 0);
  EXPECT_ERROR(column.scatter_reduce_(0, zero, column, "amax"), "single memory location");
}

/// Expected: PyTorch 2.15's results.
TEST(ScatterReduce, InPlaceAcceptsViewsWithGapsOfTheSameMemory) {
  const Tensor index = arange(4, kLong);
  const auto reduced = [&](bool by_index, int64_t first_row, int64_t column) {
    const Tensor grid = arange(8, kFloat).view({4, 2});
    Tensor self = grid.select(1, 0);
    const Tensor src = grid.narrow(0, first_row, 4 - first_row).select(1, column);
    const Tensor places = index.narrow(0, 0, src.size(0));
    if (by_index)
      self.index_reduce_(0, places, src, "amax");
    else
      self.scatter_reduce_(0, places, src, "amax");
    return self.clone();
  };
  for (const bool by_index : {false, true}) {
    EXPECT_TRUE(reduced(by_index, 0, 1).equal(tensor({1.f, 3.f, 5.f, 7.f})));
    EXPECT_TRUE(reduced(by_index, 1, 0).equal(tensor({2.f, 4.f, 6.f, 6.f})));
  }
}

TEST(IndexReduce, RefusesComplexAndBool) {
  const Tensor zero = zeros({1}, kLong);
  EXPECT_ERROR(ones({3}, kComplexFloat).index_reduce(0, zero, ones({1}, kComplexFloat), "prod"),
               "\"index_func_\" not implemented for 'ComplexFloat'");
  EXPECT_ERROR(ones({3}, kBool).index_reduce(0, zero, ones({1}, kBool), "amax", false),
               "\"index_reduce_func_exclude_input_init\" not implemented for 'Bool'");
}

TEST(SegmentReduce, OffsetsAndLengthsThatLeaveElementsOut) {
  const Tensor x = tensor({9.f, 4.f, 11.f, 1.f, 2.f, 3.f, 3.f}), offsets = tensor({1, 3, 7}, kLong);
  EXPECT_TRUE(segment_reduce(x, "sum", {}, {}, offsets).equal(tensor({15.f, 9.f})));
  EXPECT_TRUE(segment_reduce(x, "max", {}, {}, offsets).equal(tensor({11.f, 3.f})));
  EXPECT_TRUE(segment_reduce(x, "mean", {}, {}, offsets).equal(tensor({7.5f, 2.25f})));
  const Tensor numbers = arange(1, 8, kFloat);
  EXPECT_TRUE(segment_reduce(numbers, "sum", tensor({2, 3}, kLong), {}, {}, 0, true)
                  .equal(tensor({3.f, 12.f})));
  EXPECT_ERROR(segment_reduce(numbers, "sum", tensor({3, -2, 6}, kLong), {}, {}, 0, true),
               "Expected segment_length >= 0 to be true, but got false.");
}

/// The gradient of segment_reduce over one segment.
Tensor segment_gradient(const Tensor& data, const char* reduce,
                        const std::optional<Scalar>& initial) {
  const Tensor x = data.clone().requires_grad_();
  const Tensor lengths = full({1}, x.numel(), kLong);
  return autograd::grad({segment_reduce(x, reduce, lengths, {}, {}, 0, false, initial).sum()},
                        {x})[0];
}

TEST(SegmentReduce, ElementsShareTheGradientWithoutTheInitialValue) {
  EXPECT_TRUE(segment_gradient(tensor({4.f, 4.f}), "max", 4).equal(tensor({0.5f, 0.5f})));
  EXPECT_TRUE(segment_gradient(tensor({1.f, 1.f, 2.f}), "min", 1).equal(tensor({0.5f, 0.5f, 0.f})));
  EXPECT_TRUE(segment_gradient(tensor({1.f, 2.f}), "max", 9).equal(tensor({0.f, 0.f})));
  EXPECT_TRUE(segment_gradient(tensor({4.f, NAN}), "max", {}).equal(tensor({0.f, 1.f})));
}

/// Expected: PyTorch 2.15's gradients.
TEST(SegmentReduce, InfiniteElementsGetTheWholeGradient) {
  for (const auto& [reduce, infinity] : {std::pair("max", -INFINITY), std::pair("min", INFINITY)}) {
    const Tensor one = full({1}, infinity), two = full({2}, infinity);
    EXPECT_TRUE(segment_gradient(one, reduce, {}).equal(tensor({1.f})));
    EXPECT_TRUE(segment_gradient(two, reduce, {}).equal(tensor({0.5f, 0.5f})));
    EXPECT_TRUE(segment_gradient(two, reduce, infinity).equal(tensor({0.5f, 0.5f})));
    EXPECT_TRUE(segment_gradient(two, reduce, 0).equal(tensor({0.f, 0.f})));
    const Tensor with_nan = tensor({infinity, NAN});
    EXPECT_TRUE(segment_gradient(with_nan, reduce, {}).equal(tensor({0.f, 1.f})));
  }
}

TEST(SegmentReduce, GradientsAndRefusals) {
  const Tensor x = tensor({1.f, 5.f, 2.f}).requires_grad_();
  segment_reduce(x, "mean", tensor({2, 1}, kLong)).sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({0.5f, 0.5f, 1.f})));
  EXPECT_ERROR(segment_reduce(ones({3}), "add", tensor({3}, kLong)),
               "reduce argument must be either sum, prod, mean, amax or amin, got add");
  EXPECT_ERROR(segment_reduce(ones({3}), "sum"),
               "segment_reduce(): Either lengths or offsets must be defined.");
  EXPECT_ERROR(segment_reduce(ones({3}), "sum", tensor({2}, kLong)),
               "Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1)");
  EXPECT_ERROR(segment_reduce(ones({3}), "sum", tensor({-1, 4}, kLong)),
               "lengths contains negative value!");
  EXPECT_ERROR(segment_reduce(ones({3}, kLong), "sum", tensor({3}, kLong)),
               "not implemented for 'Long'");
}

TEST(ScatterReduce, ComplexNumbersHaveNoExtremes) {
  const Tensor self = zeros({3}, kComplexFloat), index = tensor({0, 1}).to(kLong);
  for (const char* reduce : {"amax", "amin"})
    EXPECT_THROW(self.scatter_reduce(0, index, ones({2}, kComplexFloat), reduce),
                 NotImplementedError);
}

}  // namespace
}  // namespace hearth::testing
