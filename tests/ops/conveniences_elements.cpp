// isin, nonzero_static, unsafe_split and other functions of elements and slices.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

TEST(Elements, Isin) {
  for (const Device device : devices()) {
    const Tensor x = tensor({1.f, 2.f, NAN, 5.f}).to(device, kFloat);
    const Tensor set = tensor({5.f, 2.f, NAN}).to(device, kFloat);
    EXPECT_TRUE(isin(x, set).cpu().equal(tensor({false, true, false, true})));
    EXPECT_TRUE(isin(x, set, false, true).cpu().equal(tensor({true, false, true, false})));
    EXPECT_TRUE(isin(x, 2).cpu().equal(tensor({false, true, false, false})));
  }
  const Tensor i = tensor({{1, 2}, {3, 4}});
  EXPECT_TRUE(isin(i, tensor({2.5f, 4.f})).equal(tensor({{false, false}, {false, true}})));
  EXPECT_TRUE(isin(3, i).item<bool>());
  EXPECT_FALSE(isin(i, empty({0})).any().item<bool>());
  EXPECT_ERROR(isin(ones({2}, kBool), ones({2}, kBool)),
               "Unsupported input type encountered for isin(): Bool");
}

TEST(Elements, NonzeroWithAFixedNumberOfRows) {
  const Tensor x = tensor({1, 0, 2});
  EXPECT_TRUE(x.nonzero_static(3).equal(tensor({{0}, {2}, {-1}}, kLong)));
  EXPECT_TRUE(x.nonzero_static(1, 9).equal(tensor({{0}}, kLong)));
  EXPECT_EQ(x.meta().nonzero_static(4).sizes().vec(), (std::vector<int64_t>{4, 1}));
  EXPECT_ERROR(x.nonzero_static(-1), "nonzero_static: 'size' must be an non-negative integer");
  const std::vector<Tensor> columns = eye(2).nonzero_numpy();
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_TRUE(columns[1].equal(tensor({0, 1}, kLong)));
  EXPECT_EQ(nonzero_numpy(ones({})).size(), 1u);
}

TEST(Elements, UnsafePiecesMayBeModified) {
  const Tensor x = ones({5}).requires_grad_(), y = x.mul(1);
  const std::vector<Tensor> pieces = y.unsafe_chunk(2);
  ASSERT_EQ(pieces.size(), 2u);
  pieces[0].mul_(3);
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({3.f, 3.f, 3.f, 1.f, 1.f})));
  EXPECT_EQ(ones({5}).unsafe_split(2).size(), 3u);
  EXPECT_EQ(unsafe_split_with_sizes(ones({5, 2}), {2, 3}, 0)[1].size(0), 3);
  EXPECT_ERROR(ones({5}).unsafe_chunk(0), "chunk expects `chunks` to be greater than 0, got: 0");
}

TEST(Elements, FillReturnsANewTensor) {
  const Tensor x = ones({2}).requires_grad_();
  const Tensor value = tensor(4.f).requires_grad_();
  const Tensor filled = fill(x, value);
  EXPECT_TRUE(filled.equal(tensor({4.f, 4.f})));
  EXPECT_TRUE(x.equal(ones({2})));
  filled.sum().backward();
  EXPECT_EQ(value.grad().item<float>(), 2);
  EXPECT_TRUE(x.grad().equal(zeros({2})));
  EXPECT_TRUE(fill(x.detach(), 3).equal(full({2}, 3.f)));
  EXPECT_ERROR(fill(x, ones({2})), "fill_ only supports 0-dimension value tensor");
}

TEST(Elements, AsStridedScatter) {
  EXPECT_TRUE(
      zeros({4}).as_strided_scatter(ones({2}), {2}, {2}).equal(tensor({1.f, 0.f, 1.f, 0.f})));
  const Tensor part = arange(6).view({2, 3}).t();
  EXPECT_TRUE(as_strided_scatter(part, tensor({7, 8}, kLong), {2}, {1}, 1)
                  .equal(tensor({{0, 3}, {7, 4}, {8, 5}}, kLong)));
  EXPECT_ERROR(zeros({4}).as_strided_scatter(ones({2}), {3}, {1}),
               "expected src to have a size equal to the slice of self. src size = [2], slice size "
               "= [3]");
  const Tensor x = zeros({4}).requires_grad_(), src = ones({2}).requires_grad_();
  x.as_strided_scatter(src, {2}, {2}).sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({0.f, 1.f, 0.f, 1.f})));
  EXPECT_TRUE(src.grad().equal(ones({2})));
}

TEST(Elements, EmptyPermuted) {
  EXPECT_EQ(by_name::empty_permuted({2, 3, 4}, {2, 0, 1}).strides().vec(),
            (std::vector<int64_t>{3, 1, 6}));
  Tensor out = empty({0});
  EXPECT_EQ(empty_permuted_out(out, {2, 3}, {1, 0}).sizes().vec(), (std::vector<int64_t>{2, 3}));
  EXPECT_ERROR(by_name::empty_permuted({2, 3}, {0}),
               "i.e. len(size) = 2 is not equal to len(physical_layout) = 1");
  EXPECT_ERROR(by_name::empty_permuted({2, 3}, {0, -1}),
               "Dimension out of range (expected to be between 0 and 1, but got -1 at index 1).");
  EXPECT_ERROR(by_name::empty_permuted({2, 3}, {0, 0}), "Duplicate dim not allowed");
}

TEST(Elements, OperatorsByPythonsNames) {
  const Tensor a = tensor({1, 2, 3}), b = tensor({3, 1, 1});
  EXPECT_TRUE(a.__and__(b).equal(a & b) && a.__and__(1).equal(a & 1));
  EXPECT_TRUE(a.__or__(b).equal(a | b) && a.__xor__(b).equal(a ^ b));
  EXPECT_TRUE(a.__lshift__(2).equal(tensor({4, 8, 12})));
  EXPECT_TRUE(a.__rshift__(b).equal(tensor({0, 1, 1})));
  EXPECT_TRUE(a.clone().__iand__(b).equal(a & b) && a.clone().__ior__(4).equal(a | 4));
  EXPECT_TRUE(a.clone().__ixor__(b).equal(a ^ b));
  EXPECT_TRUE(a.clone().__ilshift__(1).equal(a.mul(2)));
  EXPECT_TRUE(a.clone().__irshift__(1).equal(tensor({0, 1, 1})));
}

TEST(Elements, NextafterInEveryFloatingPointDtype) {
  const Tensor x = tensor({1.f, 1.f, 0.f, NAN}), to = tensor({2.f, -1.f, -1.f, 1.f});
  const Tensor got = nextafter(x, to);
  EXPECT_EQ(got[0].item<float>(), std::nextafter(1.f, 2.f));
  EXPECT_EQ(got[1].item<float>(), std::nextafter(1.f, 0.f));
  EXPECT_EQ(got[2].item<float>(), std::nextafter(0.f, -1.f));
  EXPECT_TRUE(std::isnan(got[3].item<float>()));
  EXPECT_EQ(nextafter(x.to(kDouble), to)[0].item<double>(), std::nextafter(1., 2.));
  const Tensor half =
      nextafter(tensor({1.f, 1.f, 65504.f}).to(kHalf), tensor({2.f, 0.f, INFINITY}).to(kHalf));
  EXPECT_EQ(half[0].item<double>(), 1 + 0x1p-10);
  EXPECT_EQ(half[1].item<double>(), 1 - 0x1p-11);
  EXPECT_TRUE(std::isinf(half[2].item<double>()));
  const Tensor bfloat16 =
      nextafter(tensor({1.f, -2.f, 0.f}).to(kBFloat16), tensor({2.f, 0.f, -1.f}).to(kBFloat16));
  EXPECT_EQ(bfloat16[0].item<double>(), 1 + 0x1p-7);
  EXPECT_EQ(bfloat16[1].item<double>(), -2 + 0x1p-7);
  EXPECT_EQ(bfloat16[2].item<double>(), -0x1p-133);
  for (const ScalarType type : {kHalf, kBFloat16}) {
    const Tensor zero = zeros({2}, type), least = nextafter(zero, tensor({1.f, -1.f}).to(type));
    EXPECT_TRUE(nextafter(least, zero).equal(zero));
    EXPECT_TRUE(nextafter(least, zero).signbit().equal(tensor({0, 1}).to(kBool)));
    EXPECT_TRUE(nextafter(zero, zero.neg()).signbit().all().item<bool>());
    EXPECT_TRUE(nextafter(zero, zero.add(NAN)).isnan().all().item<bool>());
  }
  EXPECT_THROW(nextafter(tensor({1}), tensor({2})), NotImplementedError);
}

TEST(Elements, NextafterGradientIsOneWhereTheNumbersDiffer) {
  const Tensor x = tensor({1.f, 1.f, 0.f}).requires_grad_();
  const Tensor to = tensor({1.f, 2.f, 1.f}).requires_grad_();
  nextafter(x, to).sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({0.f, 1.f, 1.f})));
  EXPECT_TRUE(to.grad().equal(zeros({3})));
}

TEST(Elements, IsinIgnoresNanInTheSet) {
  const Tensor x = tensor({1.f, 5.f, NAN, INFINITY, 7.f});
  const Tensor set = tensor({1.f, 2.f, 5.f, NAN, NAN, NAN, INFINITY, NAN, NAN});
  const Tensor expected = tensor({true, true, false, true, false});
  EXPECT_TRUE(isin(x, set).equal(expected));
  EXPECT_TRUE(isin(x, set, false, true).equal(expected.logical_not()));
  EXPECT_FALSE(isin(x, tensor({NAN})).any().item<bool>());
}

TEST(Elements, Combinations) {
  for (const Device device : devices()) {
    const Tensor x = tensor({5.f, 6.f, 7.f}).to(device, kFloat);
    EXPECT_TRUE(combinations(x).cpu().equal(tensor({{5.f, 6.f}, {5.f, 7.f}, {6.f, 7.f}})));
    EXPECT_TRUE(combinations(x, 1).equal(x.unsqueeze(1)));
    EXPECT_TRUE(combinations(x, 3).equal(x.unsqueeze(0)));
    EXPECT_EQ(combinations(x, 4).sizes().vec(), (std::vector<int64_t>{0, 4}));
    EXPECT_EQ(combinations(x, 0).sizes().vec(), (std::vector<int64_t>{0}));
  }
  EXPECT_TRUE(combinations(tensor({1, 2}), 3, true)
                  .equal(tensor({{1, 1, 1}, {1, 1, 2}, {1, 2, 2}, {2, 2, 2}})));
  const Tensor x = tensor({1.f, 2.f, 3.f}).requires_grad_();
  combinations(x).sum().backward();
  EXPECT_TRUE(x.grad().equal(full({3}, 2.f)));
  EXPECT_ERROR(combinations(x, -1), "Expect a non-negative number, but got -1");
  EXPECT_ERROR(combinations(ones({2, 2})), "Expect a 1D vector, but got shape [2, 2]");
}

TEST(Elements, RangeIncludesItsEnd) {
  EXPECT_TRUE(range(0, 3).equal(tensor({0.f, 1.f, 2.f, 3.f})));
  EXPECT_TRUE(range(1, 2.7).equal(tensor({1.f, 2.f})));
  EXPECT_TRUE(range(5, 1, -2, kLong).equal(tensor({5, 3, 1}, kLong)));
  EXPECT_TRUE(range(0.5, 3.5, kLong).equal(tensor({0, 1, 2, 3}, kLong)));
  EXPECT_EQ(range(0, 0.9, 0.3).numel(), 4);
  Tensor out = empty({0}, kDouble);
  EXPECT_TRUE(range_out(out, 3, 3).equal(tensor({3.})));
  EXPECT_ERROR(range(0, 1, 0), "step must be nonzero");
  EXPECT_ERROR(range(3, 1), "upper bound and lower bound inconsistent with step sign");
  EXPECT_ERROR(range(0, kInf), "unsupported range: 0 -> inf");
  EXPECT_ERROR(range(0, 1, kBool), "\"range_cpu\" not implemented for 'Bool'");
}

TEST(Elements, CopiesOfParts) {
  const Tensor x = arange(6, kFloat).view({2, 3});
  const Tensor part = x.narrow_copy(1, 1, 2);
  EXPECT_TRUE(part.equal(tensor({{1.f, 2.f}, {4.f, 5.f}})));
  EXPECT_TRUE(part.is_contiguous());
  EXPECT_FALSE(part.is_alias_of(x));
  Tensor out = empty({0});
  EXPECT_TRUE(narrow_copy_out(out, x, 1, 1, 2).equal(part));
  const Tensor channels = arange(8, kFloat).view({1, 4, 2});
  EXPECT_TRUE(native_channel_shuffle(channels, 2)
                  .equal(tensor({0.f, 1.f, 4.f, 5.f, 2.f, 3.f, 6.f, 7.f}).view({1, 4, 2})));
}

}  // namespace
}  // namespace hearth::testing
