// Unique elements and slices, and bincount.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "hearth/indexing.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

Row unique_row(std::string name, std::function<TensorTriple(const Tensor&)> op, bool sorts) {
  Row row;
  row.name = name;
  row.covers = {std::move(name)};
  row.cases = {{{{4, 5}, Draw::kSmall}}, {{{9}, Draw::kSmall}}, {{{0}}}, {{{}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.results = {Result::kSame, Result::kLong, Result::kLong};
  row.orders = 0;
  row.call = [op = std::move(op)](const Tensors& in) {
    const auto [values, inverse, counts] = op(in[0]);
    return Tensors{values, inverse, counts};
  };
  row.reference = [sorts](const Arrays& in) {
    std::vector<double> line = in[0].values, values, inverse, counts;
    if (sorts) std::sort(line.begin(), line.end());
    for (double v : line) {
      if (values.empty() || values.back() != v) values.push_back(v), counts.push_back(0);
      ++counts.back();
      if (!sorts) inverse.push_back(double(values.size() - 1));
    }
    if (sorts)
      for (double v : in[0].values)
        inverse.push_back(double(std::find(values.begin(), values.end(), v) - values.begin()));
    const int64_t n = int64_t(values.size());
    return Arrays{{{n}, values}, {in[0].sizes, inverse}, {{n}, counts}};
  };
  return row;
}

Row unique_dim_row() {
  Row row = unique_row(
      "unique_dim",
      [](const Tensor& x) {
        return unique_dim(x.dim() == 0 ? x.reshape({1}) : x, 0, true, true, true);
      },
      true);
  row.cases = {{{{9}, Draw::kSmall}}, {{{0}}}};
  return row;
}

Row bincount_row() {
  Row row;
  row.name = "bincount";
  row.covers = {"bincount"};
  row.cases = {{{{9}, Draw::kIndex, 5}}, {{{0}, Draw::kIndex, 5}}};
  row.dtypes = dtypes::kLong;
  row.orders = 0;
  row.call = [](const Tensors& in) { return Tensors{in[0].bincount({}, 2)}; };
  row.reference = [](const Arrays& in) {
    Array out{{2}, {0, 0}};
    for (double v : in[0].values) {
      if (v >= double(out.values.size())) out.values.resize(size_t(v) + 1);
      ++out.values[size_t(v)];
    }
    out.sizes[0] = int64_t(out.values.size());
    return Arrays{out};
  };
  row.refusals = {{[] { full({1}, -1, kLong).bincount(); },
                   "bincount only supports 1-d non-negative integral inputs."},
                  {[] { ones({1}).bincount(); }, "\"bincount_cpu\" not implemented for 'Float'"},
                  {[] { ones({1}, kInt).bincount({}, -1); }, "minlength should be >= 0"}};
  return row;
}

const Register registered_unique[] = {
    Register(unique_row(
        "_unique2", [](const Tensor& x) { return _unique2(x, true, true, true); }, true)),
    Register(unique_row(
        "unique_consecutive", [](const Tensor& x) { return x.unique_consecutive(true, true); },
        false)),
    Register(unique_dim_row()),
    Register(bincount_row()),
};

TEST(Unique, EqualSlicesAreOne) {
  const Tensor x = arange(6).reshape({3, 2}).fmod(4);  // [[0, 1], [2, 3], [0, 1]]
  const auto [values, inverse, counts] = unique_dim(x, 0, true, true, true);
  EXPECT_TRUE(values.equal(arange(4).reshape({2, 2})));
  EXPECT_TRUE(inverse.equal(arange(3).fmod(2)));
  EXPECT_EQ(counts[0].item<int64_t>(), 2);
  EXPECT_EQ(std::get<0>(x.unique_consecutive(false, false, 1)).size(1), 2);
  EXPECT_EQ(std::get<1>(_unique2(x)).numel(), 0);
}

/// Two slices are compared element by element in row-major order.
TEST(Unique, SlicesAreComparedInRowMajorOrder) {
  const Tensor x = tensor({0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0,
                           0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1})
                       .reshape({2, 3, 6});
  const auto [values, inverse, counts] = unique_dim(x, 2, true, true, true);
  const Tensor order = tensor({0, 3, 5, 2, 4, 1});  // PyTorch's
  EXPECT_TRUE(values.equal(x.index_select(2, order)));
  EXPECT_TRUE(inverse.equal(tensor({0, 5, 3, 1, 4, 2})));
}

TEST(Unique, SlicesNeedElements) {
  const Tensor none = zeros({0, 0}), x = zeros({2, 0, 3});
  const char* several =
      "Number of zero sized dimensions is more than one, so unique cannot be applied";
  for (const int64_t dim : {0, 1}) {
    EXPECT_ERROR(unique_dim(none, dim), several);
    EXPECT_ERROR(none.unique_consecutive(true, true, dim), several);
    EXPECT_ERROR(unique_dim(x, 2 * dim), "There are 0 sized dimensions, and they aren't selected");
    EXPECT_ERROR(x.unique_consecutive(true, true, 2 * dim), "There are 0 sized dimensions");
  }
  for (const auto& [values, inverse, counts] :
       {unique_dim(x, 1), x.unique_consecutive(true, true, 1)}) {
    EXPECT_EQ(values.sizes(), x.sizes());
    EXPECT_EQ(inverse.sizes(), IntArrayRef({0}));
    EXPECT_EQ(counts.sizes(), IntArrayRef({0}));
  }
}

TEST(Bincount, NoElementsNeedNoWeights) {
  const Tensor none = empty({0}, kInt);
  for (const Tensor& weights : {empty({0}), ones({2}, kDouble), ones({2, 3})}) {
    const Tensor counts = none.bincount(weights, 3);
    EXPECT_EQ(counts.scalar_type(), kLong);
    EXPECT_TRUE(counts.equal(zeros({3}, kLong)));
  }
  EXPECT_EQ(none.bincount(empty({0})).sizes(), IntArrayRef({0}));
  EXPECT_ERROR(zeros({1}, kLong).bincount(empty({0})), "have the same length as input");
}

TEST(Bincount, TheLargestIntegerIsRefused) {
  const Tensor x = tensor({INT64_MAX}, kLong);
  for (const Tensor& weights : {Tensor(), ones({1})})
    EXPECT_ERROR(x.bincount(weights),
                 "maximum value of input overflowed, it should be < 9223372036854775807 but got "
                 "9223372036854775807");
  EXPECT_ERROR(x.sub(1).bincount(), "overflow");
}

TEST(Unique, ConsecutiveSlices) {
  const Tensor x = tensor({{1, 1, 2}, {3, 3, 3}});
  const auto [values, inverse, counts] = unique_dim_consecutive(x, 1, true, true);
  EXPECT_TRUE(values.equal(tensor({{1, 2}, {3, 3}})));
  EXPECT_TRUE(inverse.equal(tensor({0, 0, 1}, kLong)));
  EXPECT_TRUE(counts.equal(tensor({2, 1}, kLong)));
}

}  // namespace
}  // namespace hearth::testing
