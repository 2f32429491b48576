#include <gtest/gtest.h>

#include <algorithm>

#include "hearth/autograd.h"
#include "hearth/indexing.h"
#include "hearth/stream.h"
#include "hearth/tensor_literal.h"
#include "hearth/threads.h"
#include "tests/ops/index_input.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

/// A row for scatter. Each index has its own column, so that no element is written twice.
Row scatter_row(std::string name, std::string_view reduce) {
  Row row;
  row.name = std::move(name);
  row.covers = {reduce.empty() ? "scatter" : "scatter." + std::string(reduce)};
  row.cases = {{{{4, 3}}, indices({1, 3}, 4), {{2, 3}}}, {{{2, 3}}, indices({0, 3}, 2), {{1, 3}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.orders = reduce.empty() ? 2 : 0;
  row.call = [=](const Tensors& in) {
    if (!reduce.empty()) return Tensors{in[0].detach().scatter(0, in[1], in[2].detach(), reduce)};
    return Tensors{in[0].scatter(0, in[1], in[2])};
  };
  row.reference = [=](const Arrays& in) {
    Array out = in[0];
    for (int64_t i = 0; i < int64_t(in[1].values.size()); ++i) {
      const Position from = position_of(i, in[1].sizes);
      double& element =
          out.values[size_t(linear_of({int64_t(in[1].values[size_t(i)]), from[1]}, out.sizes))];
      const double value = at(in[2], from);
      element = reduce == "add" ? element + value : reduce == "multiply" ? element * value : value;
    }
    return Arrays{out};
  };
  row.out = [=](Tensor& out, const Tensors& in) {
    if (reduce.empty())
      scatter_out(out, in[0], 0, in[1], in[2]);
    else
      scatter_out(out, in[0], 0, in[1], in[2], reduce);
  };
  row.inplace = [=](Tensor& self, const Tensors& in) {
    if (reduce.empty())
      self.scatter_(0, in[1], in[2]);
    else
      self.scatter_(0, in[1], in[2], reduce);
  };
  row.refusals = {
      {[] { ones({3}).scatter(0, zeros({1}, kLong), ones({1}, kDouble)); },
       "scatter(): Expected self.dtype to be equal to src.dtype"},
      {[] { ones({3}).scatter(0, zeros({2}, kLong), ones({1})); },
       "Expected index [2] to be no larger than self [3] apart from dimension 0 and to be no "
       "larger size than src [1]"},
      {[] { ones({3}).scatter(0, zeros({1}, kLong), ones({1}), "mean"); },
       "reduce argument must be either add or multiply."},
      {[] { ones({3}, kChar).scatter(0, zeros({1}, kLong), 300); },
       "value cannot be converted to type int8_t without overflow"}};
  for (const Device device : devices()) {
    row.refusals.push_back(refusal_on(
        device,
        [](Device where) {
          ones({3}).to(where, kFloat).scatter(0, full({1}, 5, kLong).to(where, kLong), 2);
        },
        "index 5 is out of bounds for dimension 0 with size 3"));
    // No output element is written, but the index is checked.
    row.refusals.push_back(refusal_on(
        device,
        [](Device where) {
          ones({0}).to(where, kFloat).scatter(0, zeros({3}, kLong).to(where, kLong), 2);
        },
        "index 0 is out of bounds for dimension 0 with size 0"));
  }
  return row;
}

Row scatter_value_row() {
  Row row = scatter_row("scatter_value", "");
  row.cases = {{{{4, 3}}, indices({2, 3}, 4)}, {{{2, 3}}, indices({0, 3}, 2)}};
  row.call = [](const Tensors& in) { return Tensors{in[0].scatter(0, in[1], 3)}; };
  row.out = [](Tensor& out, const Tensors& in) { scatter_out(out, in[0], 0, in[1], 3); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.scatter_(0, in[1], 3); };
  row.reference = [](const Arrays& in) {
    Array out = in[0];
    for (int64_t i = 0; i < int64_t(in[1].values.size()); ++i)
      out.values[size_t(linear_of(
          {int64_t(in[1].values[size_t(i)]), position_of(i, in[1].sizes)[1]}, out.sizes))] = 3;
    return Arrays{out};
  };
  return row;
}

Row scatter_add_row() {
  Row row;
  row.name = "scatter_add";
  row.covers = {"scatter_add"};
  row.cases = {{{{3, 5}}, indices({3, 4}, 5), {{3, 4}}},
               {{{4, 2}}, indices({2, 7}, 2), {{3, 8}}},
               {{{2, 3}}, indices({0, 2}, 3), {{1, 2}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.slack = 4;
  row.call = [](const Tensors& in) { return Tensors{in[0].scatter_add(1, in[1], in[2])}; };
  row.reference = [](const Arrays& in) {
    Array out = in[0];
    for (int64_t i = 0; i < int64_t(in[1].values.size()); ++i) {
      const Position from = position_of(i, in[1].sizes);
      Position to = from;
      to[1] = int64_t(in[1].values[size_t(i)]);
      out.values[size_t(linear_of(to, out.sizes))] += at(in[2], from);
    }
    return Arrays{out};
  };
  row.out = [](Tensor& out, const Tensors& in) { scatter_add_out(out, in[0], 1, in[1], in[2]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.scatter_add_(1, in[1], in[2]); };
  row.refusals = {{[] { ones({2}).scatter_add(0, zeros({2}, kShort), ones({2})); },
                   "scatter(): Expected dtype int32/int64 for index"},
                  {[] { ones({2}).scatter_add(0, zeros({2}, kLong), ones({2}, kDouble)); },
                   "scatter(): Expected self.dtype to be equal to src.dtype"},
                  {[] { ones({2}).scatter_add(0, zeros({3}, kLong), ones({2})); },
                   "Expected index [3] to be no larger than self [2] apart from dimension 0 and to "
                   "be no larger size than src [2]"}};
  for (const Device device : devices())
    row.refusals.push_back(refusal_on(
        device,
        [](Device where) {
          ones({2})
              .to(where, kFloat)
              .scatter_add(0, full({2}, 5, kLong).to(where, kLong), ones({2}).to(where, kFloat));
        },
        "index 5 is out of bounds for dimension 0 with size 2"));
  return row;
}

/// A row for index_add or index_copy along dimension 1; `write` maps an element and a source to the
/// new element.
Row write_row(std::string name, std::string op, std::vector<Case> cases,
              std::function<Tensor(const Tensors&)> call,
              std::function<double(double, double)> write) {
  Row row;
  row.name = std::move(name);
  row.covers = {std::move(op)};
  row.cases = std::move(cases);
  row.dtypes = dtypes::kRealAndBool;
  row.slack = 4;
  row.call = [call = std::move(call)](const Tensors& in) { return Tensors{call(in)}; };
  row.reference = [write = std::move(write)](const Arrays& in) {
    Array out = in[0];
    for (int64_t i = 0; i < int64_t(in[2].values.size()); ++i) {
      Position p = position_of(i, in[2].sizes);
      p[1] = int64_t(in[1].values[size_t(p[1])]);
      double& element = out.values[size_t(linear_of(p, out.sizes))];
      element = write(element, in[2].values[size_t(i)]);
    }
    return Arrays{out};
  };
  return row;
}

Row index_add_row() {
  Row row = write_row(
      "index_add", "index_add",
      {{{{3, 5}}, indices({4}, 5), {{3, 4}}}, {{{2, 3, 2}}, indices({2}, 3), {{2, 2, 2}}}},
      [](const Tensors& in) { return in[0].index_add(1, in[1], in[2]); },
      [](double a, double b) { return a + b; });
  row.out = [](Tensor& out, const Tensors& in) { index_add_out(out, in[0], 1, in[1], in[2]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.index_add_(1, in[1], in[2]); };
  const Tensor index = zeros({1}, kLong);
  row.refusals = {
      {[=] { ones({3}).index_add(0, index, ones({2})); },
       "index_add_(): Number of indices (1) should be equal to source.size(dim): (2), for dim: 0"},
      {[=] { ones({3}).index_add(0, index, ones({1}, kDouble)); },
       "index_add_(): self (Float) and source (Double) must have the same scalar type"},
      {[=] {
         ones({3}).index_add(0, index.view({1, 1}), ones({1}));
       },
       "index_add_(): Index is supposed to be a vector, but got dim: 2 with type: Long and size: "
       "[1, 1]"},
      {[=] { ones({3}).index_add(0, index.to(kFloat), ones({1})); },
       "index_add_(): Expected dtype int32/int64 for index but got: Float"},
      {[=] {
         ones({3, 2}).index_add(0, index, ones({1, 3}));
       },
       "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
       "self.shape = [3, 2] source.shape = [1, 3]"}};
  return row;
}

Row index_copy_row() {
  Row row = write_row(
      "index_copy", "index_copy",
      {{{{3, 5}}, indices({1}, 5), {{3, 1}}}, {{{2, 3, 2}}, indices({1}, 3), {{2, 1, 2}}}},
      [](const Tensors& in) { return in[0].index_copy(1, in[1], in[2]); },
      [](double, double b) { return b; });
  row.out = [](Tensor& out, const Tensors& in) { index_copy_out(out, in[0], 1, in[1], in[2]); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.index_copy_(1, in[1], in[2]); };
  const Tensor index = zeros({1}, kLong);
  row.refusals = {
      {[=] { ones({3}).index_copy(0, index, ones({2})); },
       "index_copy_(): Number of indices (1) should be equal to source.size(dim) (2)"},
      {[=] { ones({3}).index_copy(0, index, ones({1}, kDouble)); },
       "index_copy_(): self and source expected to have the same dtype, but got (self) Float and "
       "(source) Double"},
      {[=] {
         ones({3}).index_copy(0, index.view({1, 1}), ones({1}));
       },
       "index_copy_(): Index should have dimension 1 or 0 (got 2)"},
      {[=] { ones({3}).index_copy(0, index.to(kInt), ones({1})); },
       "index_copy_(): Expected a long tensor for index, but got Int"},
      {[=] {
         ones({3, 2}).index_copy(0, index, ones({1}));
       },
       "index_copy_(): When source and destination are not scalars, their dimensionality must "
       "match. Source dimensionality (1), destination dimensionality (2)"}};
  return row;
}

Row index_fill_row() {
  Row row;
  row.name = "index_fill";
  row.covers = {"index_fill"};
  row.cases = {
      {{{3, 5}}, indices({2}, 5)}, {{{2, 3, 2}}, indices({2}, 3)}, {{{2, 3}}, indices({0}, 3)}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) { return Tensors{in[0].index_fill(1, in[1], 3)}; };
  row.reference = [](const Arrays& in) {
    return Arrays{build(in[0].sizes, [&](const Position& p) {
      const auto& list = in[1].values;
      return std::find(list.begin(), list.end(), double(p[1])) != list.end() ? 3 : at(in[0], p);
    })};
  };
  row.out = [](Tensor& out, const Tensors& in) { index_fill_out(out, in[0], 1, in[1], 3); };
  row.inplace = [](Tensor& self, const Tensors& in) { self.index_fill_(1, in[1], 3); };
  row.refusals = {{[] {
                     ones({3}).index_fill(0, zeros({1, 1}, kLong), 1);
                   },
                   "Index has to be a vector/scalar"},
                  {[] { ones({3}).index_fill(0, zeros({1}, kInt), 1); },
                   "index_fill_(): Expected dtype int64 for index."},
                  {[] { ones({3}).index_fill(0, zeros({1}, kLong), ones({2})); },
                   "index_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 "
                   "dimension(s)."}};
  return row;
}

const Register registered_scatter[] = {
    Register(scatter_row("scatter", "")),
    Register(scatter_row("scatter_add_to", "add")),
    Register(scatter_row("scatter_multiply", "multiply")),
    Register(scatter_value_row()),
    Register(scatter_add_row()),
    Register(index_add_row()),
    Register(index_copy_row()),
    Register(index_fill_row()),
};

TEST(Scatter, Accepts0dTensors) {
  for (const Device device : devices()) {
    const Tensor x = full({}, 2.0, TensorOptions(device)),
                 index = zeros({1}, TensorOptions(kLong).device(device));
    EXPECT_EQ(x.index_select(0, index).item<float>(), 2) << device;
    EXPECT_EQ(x.index_fill(0, index, 5).item<float>(), 5) << device;
    EXPECT_EQ(x.scatter(0, index.view({}), 4).item<float>(), 4) << device;
  }
}

/// x with each element of y added at its index, in the order of y and in the dtype of x.
Tensor sums_at(const Tensor& x, const Tensor& index, const Tensor& y) {
  Tensor sums = x.clone();
  const Tensor positions = index.to(kLong).contiguous(), terms = y.contiguous();
  for (int64_t i = 0; i < positions.numel(); ++i)
    sums.data_ptr<float>()[positions.data_ptr<int64_t>()[i]] += terms.data_ptr<float>()[i];
  return sums;
}

TEST(Scatter, ComparesTheSizesOf0dTensorsAsOne) {
  const Tensor number = zeros({}), none = zeros({0}), three = zeros({3});
  const Tensor index = zeros({}, kLong), two = tensor({0, 1});
  const char* const larger_than_none =
      "Expected index [] to be no larger than self [] apart from dimension 0 and to be no larger "
      "size than src [0]";
  const char* const larger_than_number =
      "Expected index [2] to be no larger than self [3] apart from dimension 0 and to be no "
      "larger size than src []";
  EXPECT_ERROR(number.scatter(0, index, none), larger_than_none);
  EXPECT_ERROR(number.scatter_add(0, index, none), larger_than_none);
  EXPECT_ERROR(three.scatter(0, two, number), larger_than_number);
  EXPECT_ERROR(three.scatter_add(0, two, number), larger_than_number);
  EXPECT_ERROR(three.scatter_reduce(0, two, number, "amax"), larger_than_number);
}

TEST(Scatter, LongLinesHaveEqualSumsOnAnyNumberOfThreads) {
  constexpr int64_t kSize = 5003, kCount = 100'001;
  manual_seed(11);
  const Tensor x = randn({kSize}), index = randint(kSize, {2 * kCount}, kLong), y = randn({kCount});
  const Tensor every_second = index.slice(0, 0, 2 * kCount, 2), narrow = every_second.to(kInt);
  const Tensor expected = sums_at(x, every_second, y);
  const int threads = get_num_threads();
  for (const int count : {1, 2, 7}) {
    set_num_threads(count);
    EXPECT_TRUE(x.scatter_add(0, every_second, y).equal(expected)) << count;
    EXPECT_TRUE(x.scatter_add(0, every_second.contiguous(), y).equal(expected)) << count;
    EXPECT_TRUE(x.clone().index_put_({narrow.sub(kSize)}, y, /*accumulate=*/true).equal(expected))
        << count;
    const Tensor columns = stack({x, x}, 1).t();  // the rows' elements are not adjacent
    EXPECT_TRUE(columns.scatter_add(1, every_second.expand({2, -1}), y.expand({2, -1}))
                    .equal(stack({expected, expected})))
        << count;
    EXPECT_TRUE(x.gather(0, every_second).equal(x.index({narrow.sub(kSize)}))) << count;
  }
  set_num_threads(threads);
}

TEST(Scatter, LastIndexOutOfRangeChangesNothing) {
  const Tensor x = zeros({64}), y = ones({50'000}), index = zeros({50'000}, kLong);
  for (const int64_t bad : {int64_t{64}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    index[49'999].fill_(bad);
    EXPECT_THROW(x.scatter_add_(0, index, y), Error) << bad;
    EXPECT_THROW(x.gather(0, index), Error) << bad;
    EXPECT_EQ(x.sum().item<float>(), 0) << bad;
  }
}

TEST(Scatter, FactorsAndNegativeIndices) {
  const Tensor index = full({1}, 1, kLong);
  EXPECT_EQ(ones({3}).index_add(0, index, ones({1}), 2.5).select(0, 1).item<float>(), 3.5);
  EXPECT_EQ(ones({3}).index_fill(0, index.sub(2), 5).select(0, 2).item<float>(), 5);
  EXPECT_EQ(ones({3}).index_copy(0, index, full({}, 4.0)).select(0, 1).item<float>(), 4);
  const Tensor value = full({}, 2.0).requires_grad_();
  zeros({3}).index_fill(0, arange(2), value).sum().backward();
  EXPECT_EQ(value.grad().item<float>(), 2);
}

/// Calls of which LibTorch refuses all but the last, whose values are PyTorch's.
TEST(Scatter, RefusesSourcesAndIndicesInTheMemoryOfSelf) {
  const char* const text =
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
      "a single memory location. Please clone() the tensor before performing the operation.";
  const Tensor x = arange(6, kFloat).view({2, 3}), index = tensor({1, 0}),
               places = ones({2, 3}, kLong);
  Tensor same = x.view({2, 3}), ints = zeros({2, 3}, kLong), first = x.narrow(0, 0, 1);
  EXPECT_ERROR(x.index_add_(0, index, x), text);
  EXPECT_ERROR(x.index_copy_(0, index, same), text);
  EXPECT_ERROR(x.index_put_({index}, x), text);
  EXPECT_ERROR(x.index_put_({index}, x[0]), text);
  EXPECT_ERROR(x.index_put_({index}, x, true), text);
  EXPECT_ERROR(x.put_(places, x.view({-1})), text);
  EXPECT_ERROR(x.scatter_(0, places, x), text);
  EXPECT_ERROR(x.scatter_(0, places, same, "add"), text);
  EXPECT_ERROR(x.scatter_add_(0, places, x), text);
  EXPECT_ERROR(ints.scatter_(0, ints, 5), text);
  EXPECT_ERROR(scatter_out(same, ones({2, 3}), 0, places, x), text);
  EXPECT_ERROR(places[0].index_fill_(0, places[0], 7), text);
  const Tensor flags = tensor({true, true});
  EXPECT_ERROR(flags.index_put_({flags}, tensor({false, true})), text);
  EXPECT_TRUE(x.equal(arange(6, kFloat).view({2, 3})));
  first.index_copy_(0, tensor({0}), x.narrow(0, 1, 1));
  EXPECT_TRUE(x.equal(tensor({{3.f, 4.f, 5.f}, {3.f, 4.f, 5.f}})));
}

TEST(Scatter, FillsExpandedTensors) {
  const Warnings warnings;
  const Tensor x = zeros({3}), row = x.expand({2, 3}), one = ones({1}, kLong);
  row.index_fill_(1, one, 5);
  EXPECT_TRUE(x.equal(tensor({0.f, 5.f, 0.f})));
  row.index_fill_(0, one, full({}, 6.0));
  EXPECT_TRUE(x.equal(full({3}, 6.0)));
  row.index_put_({one, one}, full({}, 7.0));
  EXPECT_TRUE(x.equal(tensor({6.f, 7.f, 6.f})));
  row.index_put_({tensor({{true, false, false}, {false, false, true}})}, 8);
  EXPECT_TRUE(x.equal(tensor({8.f, 7.f, 8.f})));
  const Tensor first = tensor({0});
  row.index_put_({first}, arange(3, kFloat));
  EXPECT_TRUE(x.equal(arange(3, kFloat)));
  row.index_put_({first}, full({}, 4.0), /*accumulate=*/true);
  EXPECT_TRUE(x.equal(tensor({4.f, 5.f, 6.f})));
  x.narrow(0, 0, 2).expand({3, 2}).index_fill_(0, first, x[1]);
  EXPECT_TRUE(x.equal(tensor({5.f, 5.f, 6.f})));
  for (const char* const op : {"index_fill_", "index_put_", "masked_fill_"})
    EXPECT_TRUE(warnings.contains(std::string("Use of ") + op + " on expanded tensors is dep"));
}

}  // namespace
}  // namespace hearth::testing
