// Memory layouts, windows, dtypes, errors and warnings of single operators; most are as in LibTorch
// 2.15.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hearth/autograd.h"
#include "hearth/indexing.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

using Integers = std::vector<int64_t>;

TEST(LibtorchLayout, CopiesOfExpandedTensorsAreContiguous) {
  const Tensor small = arange(4.0).view({1, 2, 2});
  const Tensor expanded = small.expand({3, 2, 2});
  const Tensor copies[] = {expanded.clone(), expanded.to(kDouble), zeros_like(expanded),
                           empty_like(expanded), full_like(expanded, 2)};
  for (const Tensor& copy : copies) EXPECT_EQ(copy.strides().vec(), (Integers{4, 2, 1}));
  float memory[12];
  std::memcpy(memory, copies[0].data_ptr<float>(), sizeof memory);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(memory[i], float(i % 4));
  EXPECT_EQ(expanded.clone().view({-1}).numel(), 12);
  // In the copy, the order of the neighbouring dimensions decides the position of an expanded one.
  EXPECT_EQ(ones({2, 1, 3, 1}).expand({2, 2, 3, 2}).clone().strides().vec(),
            (Integers{12, 6, 2, 1}));
  EXPECT_EQ(ones({1, 3}).expand({2, 3}).clone().strides().vec(), (Integers{3, 1}));
  EXPECT_EQ(ones({3}).expand({2, 3}).t().clone().strides().vec(), (Integers{2, 1}));
  EXPECT_EQ(ones({2, 3, 4}).permute({2, 0, 1}).clone().strides().vec(), (Integers{1, 12, 4}));
  EXPECT_EQ(ones({2, 3, 4}).permute({2, 0, 1}).slice(0, 0, 4, 2).clone().strides().vec(),
            (Integers{1, 6, 2}));
}

TEST(LibtorchLayout, NonzeroIsContiguousPerDimension) {
  const Tensor mask = tensor({1, 0, 0, 1, 1, 1}, kBool).view({2, 3});
  EXPECT_EQ(mask.nonzero().strides().vec(), (Integers{1, 4}));
  EXPECT_TRUE(where(mask)[1].is_contiguous());
  EXPECT_TRUE(mask.nonzero().select(1, 0).is_contiguous());
  EXPECT_EQ(to_array(mask.nonzero()).values, (std::vector<double>{0, 0, 1, 0, 1, 1, 1, 2}));
  Tensor out = empty({0}, kLong);
  nonzero_out(out, mask);
  EXPECT_TRUE(out.equal(mask.nonzero()));
}

TEST(LibtorchLayout, SortKeepsStridesAndMaskedFillDoesNot) {
  const Tensor x = arange(24.0).view({2, 3, 4}).permute({2, 0, 1});
  const auto [values, indices] = x.sort(0, true);
  EXPECT_EQ(values.strides().vec(), (Integers{1, 12, 4}));
  EXPECT_EQ(indices.strides().vec(), (Integers{1, 12, 4}));
  EXPECT_TRUE(values.equal(x.flip({0})));
  EXPECT_TRUE(x.masked_fill(x.gt(5), 1).is_contiguous());
  EXPECT_TRUE(x.masked_fill(x.gt(5), 1).equal(where(x.gt(5), 1, x)));
  EXPECT_TRUE(ones({3}).masked_fill(x.gt(5), 1).is_contiguous());
}

/// The largest element or the sum of a window that begins at this index.
double window_of(const std::vector<double>& row, int64_t begin, int64_t kernel, bool largest) {
  double maximum = -INFINITY, sum = 0;
  const int64_t end = std::min<int64_t>(begin + kernel, int64_t(row.size()));
  for (int64_t i = std::max<int64_t>(begin, 0); i < end; ++i) {
    maximum = std::max(maximum, row[size_t(i)]);
    sum += row[size_t(i)];
  }
  return largest ? maximum : sum;
}

TEST(LibtorchLayout, WindowsLargerThanTheInput) {
  const std::vector<double> row{3, -1, 4, 1, -5};
  const Tensor x = tensor(row, kDouble).view({1, 1, 5});
  constexpr int64_t kLarge = 2147483647, kPadding = kLarge / 2;
  const Tensor largest = max_pool1d(x, kLarge, 1, kPadding);
  const Tensor mean = avg_pool1d(x, kLarge, 1, kPadding, false, false);
  ASSERT_EQ(largest.size(2), 5);
  for (int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(largest.index({0, 0, i}).item<double>(), window_of(row, i - kPadding, kLarge, true));
    EXPECT_NEAR(mean.index({0, 0, i}).item<double>(),
                window_of(row, i - kPadding, kLarge, false) / 5, 1e-12);
  }
  EXPECT_EQ(max_pool1d(x, 2, kLarge).item<double>(), 3);
}

TEST(LibtorchLayout, WindowSizesBeyondIntThrow) {
  const Tensor x = ones({1, 1, 4, 4}), line = ones({1, 1, 4});
  constexpr const char* kText = "value cannot be converted to type int without overflow";
  for (const int64_t huge : {INT64_MAX, int64_t(1) << 32}) {
    EXPECT_ERROR(avg_pool2d(x, huge), kText);
    EXPECT_ERROR(avg_pool2d(x, 2, huge), kText);
    EXPECT_ERROR(avg_pool2d(x, huge, 1, huge / 2), kText);
    EXPECT_ERROR(max_pool2d(x, huge), kText);
    EXPECT_ERROR(max_pool2d(x, 2, 1, 0, huge), kText);
    EXPECT_ERROR(max_pool2d(x, 2, huge, 0, 1, true), kText);
    EXPECT_ERROR(avg_pool1d(line, huge), kText);
    EXPECT_ERROR(max_pool1d_with_indices(line, huge, 1, huge / 2), kText);
    EXPECT_ERROR(max_pool1d(line, huge), kText);
    EXPECT_ERROR(pixel_shuffle(ones({1, 4, 2, 2}), huge), "upscale factor is too large");
    EXPECT_ERROR(conv_transpose1d(line, ones({1, 1, 2}), {}, huge), kText);
    EXPECT_ERROR(conv1d(line, ones({1, 1, 2}), {}, 1, 0, huge), kText);
  }
  EXPECT_ERROR(conv1d(line, ones({1, 1, 2}), {}, 1, INT64_MAX),
               "expected padding to be at most 4611686018427387903");
}

TEST(LibtorchLayout, PoolsCheckDtypesAndDimensions) {
  EXPECT_ERROR(max_pool1d(ones({1, 1, 4}, kLong), 2), "not implemented for 'Long'");
  EXPECT_ERROR(max_pool1d(ones({0, 4}), 2), "max_pool1d: Expected 2D or 3D");
  EXPECT_EQ(max_pool1d(ones({0, 1, 4}), 2).sizes().vec(), (Integers{0, 1, 2}));
  const Tensor matrix = ones({3, 4});
  EXPECT_EQ(adaptive_avg_pool2d(matrix, {1, 1}).sizes().vec(), (Integers{1, 1}));
}

/// conv2d of one sample by its definition.
Tensor convolved(const Tensor& x, const Tensor& w, int64_t stride, int64_t padding,
                 int64_t dilation, int64_t groups) {
  const int64_t outs = w.size(0), channels = w.size(1), k = w.size(2);
  const int64_t size = (x.size(2) + 2 * padding - dilation * (k - 1) - 1) / stride + 1;
  const Tensor result = zeros({1, outs, size, size}, kLong);
  const auto at = [](const Tensor& t, int64_t a, int64_t b, int64_t c, int64_t d) -> int64_t& {
    return t.data_ptr<int64_t>()[((a * t.size(1) + b) * t.size(2) + c) * t.size(3) + d];
  };
  for (int64_t o = 0; o < outs; ++o)
    for (int64_t i = 0; i < size * size; ++i)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t j = 0; j < k * k; ++j) {
          const int64_t row = i / size * stride - padding + j / k * dilation;
          const int64_t column = i % size * stride - padding + j % k * dilation;
          if (row < 0 || column < 0 || row >= x.size(2) || column >= x.size(3)) continue;
          at(result, 0, o, i / size, i % size) +=
              at(w, o, c, j / k, j % k) * at(x, 0, o / (outs / groups) * channels + c, row, column);
        }
  return result;
}

TEST(LibtorchLayout, IntegerConvolutionsAreExact) {
  // Products beyond 2^53, which double would round.
  const Tensor x =
      arange(4 * 36, kLong).mul(7919).remainder(1001).view({1, 4, 6, 6}).add(1LL << 40);
  const Tensor w = arange(6 * 2 * 9, kLong).mul(31).remainder(17).sub(8).view({6, 2, 3, 3});
  EXPECT_TRUE(conv2d(x, w, {}, 1, 0, 1, 2).equal(convolved(x, w, 1, 0, 1, 2)));
  EXPECT_TRUE(conv2d(x, w, {}, 2, 1, 2, 2).equal(convolved(x, w, 2, 1, 2, 2)));
  const Tensor bias = arange(6, kLong);
  EXPECT_TRUE(conv2d(x, w, bias, 2, 1, 1, 2)
                  .equal(convolved(x, w, 2, 1, 1, 2).add(bias.view({1, 6, 1, 1}))));
  EXPECT_EQ(conv2d(x, w, {}, 1, "same", 1, 2).sizes().vec(), (Integers{1, 6, 6, 6}));
  for (const ScalarType type : {kByte, kChar, kShort, kInt}) {
    const Tensor y = conv2d(x.to(type), w.to(type), {}, 1, 1, 1, 2);
    EXPECT_EQ(y.scalar_type(), type);
    EXPECT_TRUE(y.is_contiguous());
    EXPECT_TRUE(y.equal(convolved(x, w, 1, 1, 1, 2).to(type)));  // both wrap around
  }
  EXPECT_ERROR(conv2d(x.to(kBool), w.to(kBool), {}, 1, 0, 1, 2), "not implemented for 'Bool'");
}

TEST(LibtorchLayout, IntegerTransposedConvolutionsAreExact) {
  const Tensor x = arange(2 * 4 * 9, kLong).remainder(11).sub(5).view({2, 4, 3, 3});
  const Tensor w = arange(4 * 3 * 4, kLong).remainder(7).sub(3).view({4, 3, 2, 2});
  for (const int64_t dilation : {1, 2})
    for (const int64_t padding : {0, 1, 3}) {
      const auto result_in = [&](ScalarType type) {
        return conv_transpose2d(x.to(type), w.to(type), {}, 3, padding, 1, 2, dilation);
      };
      EXPECT_TRUE(result_in(kLong).equal(result_in(kDouble).to(kLong)))
          << dilation << " " << padding;
    }
}

TEST(LibtorchLayout, SparseEmbeddingsHaveNoBackward) {
  const Tensor weight = arange(6.0).view({3, 2}).requires_grad_();
  const Tensor rows = embedding(weight, tensor({2, 0}), -1, false, true);
  EXPECT_EQ(to_array(rows).values, (std::vector<double>{4, 5, 0, 1}));
  EXPECT_ERROR(rows.sum().backward(), "sparse gradients are not supported");
}

TEST(LibtorchLayout, InnerProductsWith0dTensorsPromote) {
  const Tensor x = ones({2, 2});
  EXPECT_EQ(x.inner(full({}, 2.0, kDouble)).scalar_type(), kFloat);
  EXPECT_EQ(full({}, 2).inner(full({}, 2.0, kDouble)).scalar_type(), kDouble);
  EXPECT_ERROR(x.inner(ones({2, 2}, kDouble)), "both inputs should have same dtype");
}

TEST(LibtorchLayout, GradientsOfProductsHaveTheStridesOfTheirInputs) {
  const Tensor x = arange(6, kDouble).view({2, 3}).requires_grad_();
  const Tensor w = arange(12, kDouble).view({4, 3}).requires_grad_();
  const Tensor bias = ones({4}, kDouble), grad = arange(8, kDouble).view({2, 4});
  for (const Tensor& y : {x.mm(w.t()), linear(x, w, bias)}) {
    const auto grads = autograd::grad({y}, {x, w}, {grad});
    EXPECT_EQ(grads[0].strides().vec(), (Integers{3, 1}));
    EXPECT_EQ(grads[1].strides().vec(), (Integers{3, 1}));
    // dL/dw[o][i] = the sum over n of grad[n][o] * x[n][i].
    EXPECT_EQ(to_array(grads[1]).values,
              (std::vector<double>{12, 16, 20, 15, 21, 27, 18, 26, 34, 21, 31, 41}));
  }
}

TEST(LibtorchLayout, ErrorsNameTheMismatchedDtypes) {
  const Tensor x = ones({2, 3}), w = ones({4, 3}, kDouble);
  EXPECT_ERROR(
      linear(x, w),
      "expected m1 and m2 to have the same dtype, but got: float != double (input is Float "
      "[2, 3], weight is Double [4, 3]; convert one of them, as with input.to(kDouble))");
  EXPECT_ERROR(linear(x, w, ones({4}, kDouble)),
               "mat1 and mat2 must have the same dtype, but got Float and Double (input is Float");
  EXPECT_ERROR(linear(x, x, ones({2}, kDouble)),
               "self and mat2 must have the same dtype, but got Double and Float (bias is Double");
  EXPECT_ERROR(conv1d(x.to(kDouble), ones({1, 2, 2})),
               "expected scalar type Double but found Float (input is Double [1, 2, 3], weight is "
               "Float [1, 2, 2]; convert one of them, as with input.to(kFloat))");
  EXPECT_ERROR(x.mm(w.t()), "(self is Float [2, 3], mat2 is Double [3, 4]; convert one of them");
}

TEST(LibtorchLayout, VariancesOfTooFewValuesWarn) {
  const auto warns = [](auto f, const std::string& name) {
    const Warnings warnings;
    f();
    return Warnings::contains(name +
                              "(): degrees of freedom is <= 0. Correction should be strictly less "
                              "than the reduction factor (input numel divided by output numel).");
  };
  const Tensor one = ones({1}), x = ones({2, 3}), empty_rows = ones({3, 0});
  EXPECT_TRUE(warns([&] { one.var(true); }, "var"));
  EXPECT_TRUE(warns([&] { one.std(true); }, "std"));
  EXPECT_TRUE(warns([&] { var_mean(one, true); }, "var_mean"));
  EXPECT_TRUE(warns([&] { std_mean(one, true); }, "std_mean"));
  EXPECT_TRUE(warns([&] { x.var(IntArrayRef{0}, Scalar(2)); }, "var"));
  EXPECT_TRUE(warns([&] { empty_rows.var(IntArrayRef{0}, false); }, "var"));
  EXPECT_FALSE(warns([&] { one.var(false); }, "var"));
  EXPECT_FALSE(warns([&] { x.var(IntArrayRef{0}, true); }, "var"));
}

}  // namespace
}  // namespace hearth::testing
