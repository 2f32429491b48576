// Functions composed of a few other ops.
#include <gtest/gtest.h>

#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

using Numbers = std::vector<double>;
using Sizes = std::vector<int64_t>;

Numbers values(const Tensor& t) { return to_array(t).values; }
Sizes sizes(const Tensor& t) { return t.sizes().vec(); }

/// 0, 1, 2, … in row-major order.
Tensor counted(const Sizes& sizes) { return arange(count_of(sizes), kFloat).reshape(sizes); }

TEST(Conveniences, Flips) {
  const Tensor x = counted({2, 3});
  EXPECT_EQ(values(x.fliplr()), (Numbers{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values(fliplr(x)), (Numbers{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values(x.flipud()), (Numbers{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(values(flipud(x)), (Numbers{3, 4, 5, 0, 1, 2}));
}

TEST(Conveniences, Reshapes) {
  const Tensor x = counted({2, 3}), like = empty({3, 2});
  EXPECT_EQ(sizes(x.reshape_as(like)), (Sizes{3, 2}));
  EXPECT_EQ(values(x.t().reshape_as(like)), (Numbers{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(x.view_as(like).data_ptr(), x.data_ptr());
  EXPECT_EQ(sizes(x.view_as(like)), (Sizes{3, 2}));
  EXPECT_EQ(values(x.t().ravel()), (Numbers{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(x.ravel().data_ptr(), x.data_ptr());
  const Tensor batch = counted({2, 1, 2});
  EXPECT_EQ(sizes(batch.mT()), (Sizes{2, 2, 1}));
  EXPECT_EQ(values(counted({2, 2, 2}).mT()), (Numbers{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(Conveniences, DsplitSplitsTheThirdDimension) {
  const Tensor x = counted({1, 2, 5});
  const std::vector<Tensor> pieces = x.dsplit(IntArrayRef{1, 3});
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(values(pieces[0]), (Numbers{0, 5}));
  EXPECT_EQ(values(pieces[1]), (Numbers{1, 2, 6, 7}));
  EXPECT_EQ(values(pieces[2]), (Numbers{3, 4, 8, 9}));
  EXPECT_EQ(counted({1, 2, 6}).dsplit(3).size(), 3U);
  EXPECT_THROW(x.dsplit(2), Error);
}

TEST(Conveniences, LinalgCrossUsesTheLastDimension) {
  const Tensor a = tensor({1.0, 2.0, 3.0}), b = tensor({-1.0, 0.5, 4.0});
  EXPECT_EQ(values(linalg_cross(a, b)), (Numbers{6.5, -7, 2.5}));
  EXPECT_THROW(linalg_cross(ones({3, 2}), ones({3, 2})), Error);
}

TEST(Conveniences, NewEmptyKeepsTheDtype) {
  const Tensor x = ones({2}, kDouble);
  EXPECT_EQ(sizes(x.new_empty({3, 1})), (Sizes{3, 1}));
  EXPECT_EQ(x.new_empty({3, 1}).scalar_type(), kDouble);
  EXPECT_EQ(x.new_empty({3}, kLong).scalar_type(), kLong);
  const Tensor strided = x.new_empty_strided({2, 3}, {1, 2});
  EXPECT_EQ(strided.strides().vec(), (Sizes{1, 2}));
  EXPECT_EQ(strided.scalar_type(), kDouble);
}

TEST(Conveniences, RandLikeAndRandnLike) {
  manual_seed(3);
  const Tensor like = empty({100, 200}, kDouble);
  const Tensor uniform = rand_like(like), normal = randn_like(like);
  EXPECT_EQ(uniform.scalar_type(), kDouble);
  EXPECT_EQ(sizes(normal), (Sizes{100, 200}));
  EXPECT_GE(uniform.min().item<double>(), 0);
  EXPECT_LT(uniform.max().item<double>(), 1);
  EXPECT_NEAR(uniform.mean().item<double>(), 0.5, 0.01);
  EXPECT_NEAR(normal.mean().item<double>(), 0, 0.03);
  EXPECT_NEAR(normal.std().item<double>(), 1, 0.03);
}

TEST(Conveniences, ResultType) {
  const Tensor i = ones({2}, kInt), h = ones({2}, kHalf), d = ones({}, kDouble);
  EXPECT_EQ(result_type(i, h), kHalf);
  EXPECT_EQ(result_type(i, d), kDouble);
  EXPECT_EQ(result_type(h, d), kHalf);
  EXPECT_EQ(result_type(i, 2), kInt);
  EXPECT_EQ(result_type(i, 2.5), kFloat);
  EXPECT_EQ(result_type(ones({2}, kBool), 2), kLong);
}

TEST(Conveniences, UniqueOfElementsAndSlices) {
  const Tensor x = tensor({3.0, 1.0, 3.0, 2.0, 1.0, 3.0});
  const auto [elements, inverse, counts] = unique(x, true, true, true);
  EXPECT_EQ(values(elements), (Numbers{1, 2, 3}));
  EXPECT_EQ(values(inverse), (Numbers{2, 0, 2, 1, 0, 2}));
  EXPECT_EQ(values(counts), (Numbers{2, 1, 3}));
  const Tensor rows = tensor({1.0, 2.0, 0.0, 5.0, 1.0, 2.0}).reshape({3, 2});
  EXPECT_EQ(values(std::get<0>(unique(rows, true, false, false, 0))), (Numbers{0, 5, 1, 2}));
}

TEST(Conveniences, BlocksOnADiagonal) {
  const Tensor blocks = block_diag({counted({1, 2}) + 1, counted({2, 1}) + 3, full({}, 9)});
  EXPECT_EQ(values(blocks), (Numbers{1, 2, 0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 9}));
  EXPECT_EQ(sizes(blocks), (Sizes{4, 4}));
}

TEST(Conveniences, LeastNumberOfDimensions) {
  const Tensor number = full({}, 7), vector = counted({3}), matrix = counted({2, 3});
  EXPECT_EQ(sizes(atleast_1d(number)), (Sizes{1}));
  EXPECT_EQ(sizes(atleast_2d(vector)), (Sizes{1, 3}));
  EXPECT_EQ(sizes(atleast_3d(vector)), (Sizes{1, 3, 1}));
  EXPECT_EQ(sizes(atleast_3d(matrix)), (Sizes{2, 3, 1}));
  EXPECT_EQ(values(atleast_3d(matrix)), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(sizes(atleast_2d({number, matrix}).at(0)), (Sizes{1, 1}));
  EXPECT_EQ(sizes(atleast_2d({number, matrix}).at(1)), (Sizes{2, 3}));
}

TEST(Conveniences, FillsADiagonal) {
  EXPECT_EQ(values(zeros({5, 2}).fill_diagonal_(8)), (Numbers{8, 0, 0, 8, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values(zeros({5, 2}).fill_diagonal_(8, true)), (Numbers{8, 0, 0, 8, 0, 0, 8, 0, 0, 8}));
}

TEST(Conveniences, ComparesAndTakesSizes) {
  EXPECT_TRUE(ones({2, 3}).is_same_size(zeros({2, 3})));
  EXPECT_FALSE(ones({2, 3}).is_same_size(zeros({3, 2})));
  EXPECT_EQ(sizes(zeros({2}).resize_as_(ones({2, 3}))), (Sizes{2, 3}));
}

TEST(Conveniences, PositionsOfNonzeroElements) {
  EXPECT_EQ(values(counted({2, 2}).argwhere()), (Numbers{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(sizes(argwhere(counted({2, 2}))), (Sizes{3, 2}));
}

}  // namespace
}  // namespace hearth::testing
