// Sums and products of half types in an indexed tensor.
#include <gtest/gtest.h>

#include <thread>

#include "hearth/autograd.h"
#include "hearth/indexing.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// Only the selected elements are written, because other threads may change the rest.
TEST(ScatterOfHalfTypes, ThreadsAddToDifferentRowsOfAHalfTable) {
  for (const int64_t rows : {4, 1000}) {  // the op copies the whole table, or the selected rows
    const Tensor table = zeros({rows, 256}, kBFloat16), one = ones({1, 256}, kBFloat16);
    const auto add = [&](int64_t row) {
      for (int i = 0; i < 100; ++i) table.scatter_add_(0, full({1, 256}, row, kLong), one);
    };
    std::thread other(add, 1);
    add(0);
    other.join();
    EXPECT_TRUE(table.narrow(0, 0, 2).equal(full({2, 256}, 100, kBFloat16))) << rows;
    EXPECT_EQ(table.to(kFloat).sum().item<float>(), 2 * 256 * 100) << rows;
  }
}

/// Few indices into a large table copy only the rows that they select.
TEST(ScatterOfHalfTypes, AddsToFewRowsOfALargeHalfTable) {
  for (const ScalarType type : {kHalf, kBFloat16}) {
    const Tensor rows = tensor({70, 5, 70, 70}), index = rows.view({2, 2});
    const Tensor src = (arange(4 * 3 * 7, kDouble).view({4, 3, 7}) * 0.37).sin().to(type);
    const Tensor x = (arange(100 * 3 * 7, kDouble).view({100, 3, 7}) * 0.11).cos().to(type);
    const auto expected = [&](const Tensor& table, int64_t dim) {
      return table.to(kFloat).index_add(dim, rows, src.transpose(0, dim).to(kFloat)).to(type);
    };
    EXPECT_TRUE(x.index_add(0, rows, src).equal(expected(x, 0)));
    const Tensor turned = x.transpose(0, 2);
    EXPECT_TRUE(turned.index_add(2, rows, src.transpose(0, 2)).equal(expected(turned, 2)));
    EXPECT_TRUE(x.clone()
                    .index_put_({index}, src.view({2, 2, 3, 7}), /*accumulate=*/true)
                    .equal(expected(x, 0)));
    // An expanded index: both values are added to the same row.
    EXPECT_TRUE(
        x.clone().index_put_({tensor({7}).expand({2})}, ones({2, 3, 7}, type), true)[7].equal(
            (x[7].to(kFloat) + 2).to(type)));
    const Tensor places = full({2, 1, 1}, 99, kLong);
    EXPECT_EQ(x.scatter_add(0, places, ones({2, 1, 1}, type))[99][0][0].item<float>(),
              (x[99][0][0].to(kFloat) + 2).to(type).item<float>());
    EXPECT_THROW(x.index_add_(0, tensor({3, 100}), src.narrow(0, 0, 2)), Error);
    EXPECT_THROW(x.index_put_({tensor({3, -101})}, ones({}, type), true), Error);
  }
}

/// As in PyTorch's scatter. PyTorch's index_add, index_put_ and gradients of index_select add in
/// half precision, which loses small values.
TEST(ScatterOfHalfTypes, HalfTypesAreAddedAndMultipliedInFloat32) {
  for (const ScalarType type : {kHalf, kBFloat16}) {
    const Tensor zero = zeros({5000}, kLong), x = zeros({2}, type), src = ones({5000}, type);
    const Tensor sum = tensor({5000.f, 0.f}).to(type);
    EXPECT_TRUE(x.scatter_add(0, zero, src).equal(sum));
    EXPECT_TRUE(x.scatter(0, zero, src, "add").equal(sum));
    EXPECT_TRUE(x.clone().scatter_add_(0, zero, src).equal(sum));
    EXPECT_TRUE(x.index_add(0, zero, src).equal(sum));
    EXPECT_TRUE(x.clone().index_put_({zero}, src, /*accumulate=*/true).equal(sum));
    const Tensor factors = full({200}, type == kHalf ? 1.001953125 : 1.0078125, type);
    EXPECT_EQ(
        ones({1}, type).scatter(0, zero.slice(0, 0, 200), factors, "multiply")[0].item<float>(),
        type == kHalf ? 1.4775390625f : 4.75f);
    const Tensor leaf = zeros({2, 3}, type).t().requires_grad_();
    leaf.index_select(1, zero).backward(ones({3, 5000}, type));
    EXPECT_TRUE(leaf.grad().equal(sum.expand({3, 2})));
    leaf.mutable_grad().zero_();
    leaf.gather(1, zero.expand({3, 5000})).backward(ones({3, 5000}, type));
    EXPECT_TRUE(leaf.grad().equal(sum.expand({3, 2})));
  }
}

/// Element 0, to which nothing is added, is a signalling NaN, which conversions make a quiet one.
TEST(ScatterOfHalfTypes, HalfSumsKeepTheBitsOfOtherElements) {
  constexpr int16_t kSignalling = 0x7c01;
  Tensor table = zeros({8}, kHalf);
  Tensor bits = table.view(kShort);
  bits[0] = kSignalling;
  table.scatter_add_(0, ones({5000}, kLong), ones({5000}, kHalf));
  EXPECT_EQ(bits[0].item<int16_t>(), kSignalling);
  EXPECT_EQ(table[1].item<float>(), 5000);
}

/// Elements outside the view, and elements that no index selects, are not changed.
TEST(ScatterOfHalfTypes, HalfSumsInViewsTouchNothingElse) {
  const Tensor base = arange(60, kHalf).view({3, 4, 5}), before = base.clone();
  const Tensor view = base.slice(2, 0, 5, 2).select(1, 1);  // 3 x 3
  const Tensor rows = tensor({2, 0, 2}, kLong), columns = tensor({1, 2, 1}, kLong);
  view.index_put_({rows, columns}, ones({3}, kHalf), /*accumulate=*/true);
  view.scatter_add_(1, tensor({2, 2}, kLong).view({2, 1}), full({2, 1}, 8, kHalf));
  const Tensor change = base.sub(before);
  EXPECT_EQ(change[2][1][2].item<float>(), 2);
  EXPECT_EQ(change[0][1][4].item<float>(), 9);
  EXPECT_EQ(change[1][1][4].item<float>(), 8);
  EXPECT_EQ(change.count_nonzero().item<int64_t>(), 3);
}

}  // namespace
}  // namespace hearth::testing
