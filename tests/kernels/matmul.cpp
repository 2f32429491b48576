#include "seam/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/threads.h"
#include "kernels/cpu/onednn.h"
#include "tests/kernels/support.h"

namespace hearth {
namespace {

using testing::at;
using testing::Buffer;
using testing::KernelContext;
using testing::small_numbers;

enum class Layout { kContiguous, kTransposed, kWithGaps, kBroadcastRows, kBroadcastBatch };
constexpr Layout kLayouts[] = {Layout::kContiguous, Layout::kTransposed, Layout::kWithGaps,
                               Layout::kBroadcastRows, Layout::kBroadcastBatch};

std::vector<int64_t> strides_of(Layout layout, int64_t rows, int64_t columns) {
  switch (layout) {
    case Layout::kTransposed: return {rows * columns, 1, rows};
    case Layout::kWithGaps: return {rows * columns * 6, columns * 3, 2};
    case Layout::kBroadcastRows: return {columns, 0, 1};
    case Layout::kBroadcastBatch: return {0, columns, 1};
    default: return {rows * columns, columns, 1};
  }
}

/// A batch of matrices in a layout, with random elements.
template <class T>
struct Matrices {
  Buffer<T> buffer;
  View view;

  Matrices(Layout layout, int64_t batch, int64_t rows, int64_t columns, uint32_t seed)
      : buffer(small_numbers<T>(size_t(batch * rows * columns * 6 + 1), seed)),
        view(buffer.view({batch, rows, columns}, strides_of(layout, rows, columns))) {}
};

/// An accumulator type in which sums of small integers are exact, or wrap as in T.
template <class T>
struct WideOf {
  using type = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
};
template <class T>
struct WideOf<complex<T>> {
  using type = complex<double>;
};

template <class T>
typename WideOf<T>::type widen(T value) {
  return typename WideOf<T>::type(value);
}

template <class T, class W>
T expected_element(const MatmulParams& p, const std::vector<int64_t>& position, W sum) {
  sum = W(p.alpha) * sum;
  if (p.c.defined()) sum = sum + W(p.beta) * widen(at<T>(p.c, std::span(position)));
  if constexpr (std::is_same_v<T, bool>)
    return sum != 0;
  else if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
    return T(float(sum));
  else
    return T(sum);
}

/// The expected elements of `out` in row-major order; all views are 3-D.
template <class T>
std::vector<T> reference(const MatmulParams& p) {
  using W = typename WideOf<T>::type;
  std::vector<T> result;
  for (int64_t i = 0; i < p.out.numel; ++i) {
    const std::vector<int64_t> position = testing::coordinates(p.out, i);
    W sum(0);
    for (int64_t q = 0; q < p.a.sizes[2]; ++q)
      sum = sum + widen(at<T>(p.a, {position[0], position[1], q})) *
                      widen(at<T>(p.b, {position[0], q, position[2]}));
    result.push_back(expected_element<T>(p, position, sum));
  }
  return result;
}

template <class T>
::testing::AssertionResult equal(const View& out, const std::vector<T>& expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(at<T>(out, int64_t(i)) == expected[i]))
      return ::testing::AssertionFailure() << "element " << i;
  return ::testing::AssertionSuccess();
}

template <class T>
class MatmulTest : public ::testing::Test {};
using AllTypes = ::testing::Types<uint8_t, int8_t, int16_t, int32_t, int64_t, Half, BFloat16, float,
                                  double, complex<float>, complex<double>, bool>;
TYPED_TEST_SUITE(MatmulTest, AllTypes);

template <class T>
void check_layouts(int64_t batch, int64_t m, int64_t n, int64_t k) {
  for (Layout layout_a : kLayouts)
    for (Layout layout_b : kLayouts)
      for (Layout layout_out : {Layout::kContiguous, Layout::kTransposed, Layout::kWithGaps}) {
        Matrices<T> a(layout_a, batch, m, k, 1), b(layout_b, batch, k, n, 2),
            out(layout_out, batch, m, n, 3);
        const MatmulParams params{a.view, b.view, View(), out.view};
        const std::vector<T> expected = reference<T>(params);
        KernelContext context;
        cpu::run(params, context.ctx);
        EXPECT_TRUE(equal(out.view, expected)) << int(layout_a) << int(layout_b) << int(layout_out)
                                               << ": " << batch << 'x' << m << 'x' << n << 'x' << k;
        EXPECT_TRUE(out.buffer.guards_intact());
      }
}

TYPED_TEST(MatmulTest, MultipliesEveryLayout) {
  check_layouts<TypeParam>(1, 3, 2, 4);
  check_layouts<TypeParam>(3, 5, 7, 6);
  check_layouts<TypeParam>(2, 30, 33, 20);
}

TYPED_TEST(MatmulTest, MultipliesVectors) {
  check_layouts<TypeParam>(1, 1, 40, 9);
  check_layouts<TypeParam>(1, 40, 1, 9);
  check_layouts<TypeParam>(2, 1, 1, 80);
  check_layouts<TypeParam>(1, 9, 11, 1);
}

TYPED_TEST(MatmulTest, AddsAnAddendOfAnyStrides) {
  for (const auto& c_strides :
       std::vector<std::vector<int64_t>>{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {99, 11, 1}}) {
    for (int64_t k : {0, 1, 13, 50}) {
      Matrices<TypeParam> a(Layout::kContiguous, 2, 9, k, 1), b(Layout::kContiguous, 2, k, 11, 2);
      Matrices<TypeParam> out(Layout::kWithGaps, 2, 9, 11, 3);
      Buffer<TypeParam> addend(small_numbers<TypeParam>(2 * 9 * 11, 4));
      const MatmulParams params{a.view, b.view, addend.view({2, 9, 11}, c_strides), out.view, 2, 3};
      const std::vector<TypeParam> expected = reference<TypeParam>(params);
      KernelContext context;
      cpu::run(params, context.ctx);
      EXPECT_TRUE(equal(out.view, expected)) << k;
    }
  }
}

TYPED_TEST(MatmulTest, AddendMayAliasTheResult) {
  Matrices<TypeParam> a(Layout::kContiguous, 1, 9, 30, 1), b(Layout::kContiguous, 1, 30, 11, 2);
  Matrices<TypeParam> out(Layout::kTransposed, 1, 9, 11, 3);
  const MatmulParams params{a.view, b.view, out.view, out.view, 1, 2};
  const std::vector<TypeParam> expected = reference<TypeParam>(params);
  KernelContext context;
  cpu::run(params, context.ctx);
  EXPECT_TRUE(equal(out.view, expected));
}

TYPED_TEST(MatmulTest, EmptyInnerDimensionGivesZeros) {
  Matrices<TypeParam> a(Layout::kContiguous, 1, 3, 0, 1), b(Layout::kContiguous, 1, 0, 4, 2);
  Matrices<TypeParam> out(Layout::kContiguous, 1, 3, 4, 3);
  KernelContext context;
  cpu::run(MatmulParams{a.view, b.view, View(), out.view}, context.ctx);
  EXPECT_TRUE(equal(out.view, std::vector<TypeParam>(12, TypeParam(0))));
}

TYPED_TEST(MatmulTest, WritesNothingToEmptyResults) {
  for (const auto& [m, n] : {std::pair{0, 4}, std::pair{4, 0}, std::pair{0, 0}}) {
    Matrices<TypeParam> a(Layout::kContiguous, 1, m, 5, 1), b(Layout::kContiguous, 1, 5, n, 2),
        out(Layout::kContiguous, 1, m, n, 3);
    KernelContext context;
    cpu::run(MatmulParams{a.view, b.view, View(), out.view}, context.ctx);
    EXPECT_TRUE(out.buffer.guards_intact());
  }
}

template <class T>
class FloatMatmulTest : public ::testing::Test {};
using FloatTypes = ::testing::Types<Half, BFloat16, float, double>;
TYPED_TEST_SUITE(FloatMatmulTest, FloatTypes);

TYPED_TEST(FloatMatmulTest, IgnoresNanInTheAddendIfBetaIsZero) {
  const TypeParam nan(std::numeric_limits<float>::quiet_NaN());
  for (const auto& [m, n, k] :
       {std::tuple{2, 2, 2}, std::tuple{1, 50, 20}, std::tuple{50, 1, 20}, std::tuple{1, 1, 99},
        std::tuple{10, 10, 10}, std::tuple{40, 40, 40}}) {
    Matrices<TypeParam> a(Layout::kContiguous, 1, m, k, 1), b(Layout::kContiguous, 1, k, n, 2);
    Buffer<TypeParam> c(size_t(m * n), nan), out(size_t(m * n), nan);
    MatmulParams params{a.view, b.view, View(), out.view({1, m, n})};
    const std::vector<TypeParam> expected = reference<TypeParam>(params);
    params.c = c.view({1, m, n});
    params.beta = 0;
    KernelContext context;
    cpu::run(params, context.ctx);
    EXPECT_TRUE(equal(params.out, expected)) << m << 'x' << n << 'x' << k;
  }
}

TEST(Matmul, AcceptsMatricesWithoutBatch) {
  Buffer<float> a({1, 2, 3, 4, 5, 6}), b({1, 0, 2, 1, 0, 3}), out(4);
  KernelContext context;
  cpu::run(MatmulParams{a.view({2, 3}), b.view({3, 2}), View(), out.view({2, 2})}, context.ctx);
  EXPECT_EQ(out.values(), (std::vector<float>{5, 11, 14, 23}));
}

TEST(Matmul, IntegersWrap) {
  Buffer<int8_t> a({100, 100}), b({2, 1}), out(1);
  KernelContext context;
  cpu::run(MatmulParams{a.view({1, 2}), b.view({2, 1}), View(), out.view({1, 1})}, context.ctx);
  EXPECT_EQ(out[0], int8_t(300 - 256));
}

/// The largest error of some elements of a product of normally distributed numbers, in units of T's
/// epsilon times k.
template <class T>
double error_of_random_product(int64_t m, int64_t n, int64_t k) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto fill = [&](int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    for (T& value : values) value = T(normal(random));
    return values;
  };
  Buffer<T> a(fill(m * k)), b(fill(k * n)), out(size_t(m * n));
  KernelContext context;
  cpu::run(MatmulParams{a.view({m, k}), b.view({k, n}), View(), out.view({m, n})}, context.ctx);
  double worst = 0;
  for (int64_t i = 0; i < m; i += 7)
    for (int64_t j = 0; j < n; j += 5) {
      long double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += static_cast<long double>(a[size_t(i * k + p)]) * b[size_t(p * n + j)];
      worst = std::max(worst, std::fabs(double(sum - out[size_t(i * n + j)])));
    }
  return worst / (double(std::numeric_limits<T>::epsilon()) * double(k));
}

TEST(Matmul, LargeProductsAreAccurate) {
  for (const auto& [m, n, k] :
       {std::tuple{300, 70, 200}, std::tuple{70, 300, 200}, std::tuple{1, 2000, 300}}) {
    EXPECT_LT(error_of_random_product<float>(m, n, k), 2);
    EXPECT_LT(error_of_random_product<double>(m, n, k), 2);
  }
}

// The kernel copies this transposed matrix, because its rows in memory are at least as long as the
// result's, and the product is large enough for oneDNN with AVX2 and with AVX-512.
TEST(Matmul, MultipliesByATransposedMatrixWithLongRows) {
  for (const Layout layout : {Layout::kContiguous, Layout::kTransposed, Layout::kWithGaps}) {
    Matrices<float> a(Layout::kContiguous, 1, 70, 200, 1), b(Layout::kTransposed, 1, 200, 64, 2);
    Matrices<float> out(layout, 1, 70, 64, 3);
    const MatmulParams params{a.view, b.view, View(), out.view};
    const std::vector<float> expected = reference<float>(params);
    KernelContext context;
    cpu::run(params, context.ctx);
    EXPECT_TRUE(equal(out.view, expected)) << int(layout);
    EXPECT_TRUE(out.buffer.guards_intact() && b.buffer.guards_intact());
  }
}

/// Checks a product plus one row that is added to all rows; the kernel adds it to each block.
template <class T>
void expect_sum_with_row(int64_t terms) {
  constexpr int64_t kRows = 530, kColumns = 45, kStride = 50;
  Buffer<T> a(small_numbers<T>(size_t(kRows * terms), 1));
  Buffer<T> b(small_numbers<T>(size_t(kColumns * terms), 2));
  Buffer<T> row(small_numbers<T>(size_t(kColumns), 3)), out(size_t(kRows * kStride), T(-9));
  MatmulParams params{a.view({kRows, terms}), b.view({terms, kColumns}, {1, terms}),
                      row.view({kRows, kColumns}, {0, 1}),
                      out.view({kRows, kColumns}, {kStride, 1})};
  params.beta = 2;
  KernelContext context;
  cpu::run(params, context.ctx);
  for (int64_t i = 0; i < kRows * kStride; ++i) {
    const int64_t r = i / kStride, c = i % kStride;
    T expected = c < kColumns ? 2 * row[size_t(c)] : T(-9);
    for (int64_t k = 0; k < terms && c < kColumns; ++k)
      expected += a[size_t(r * terms + k)] * b[size_t(c * terms + k)];
    ASSERT_EQ(out[size_t(i)], expected) << terms << ", " << r << ", " << c;
  }
  EXPECT_TRUE(out.guards_intact());
}

TEST(Matmul, AddsARowToManyRows) {
  for (const int64_t terms : {0, 3, 70}) {
    expect_sum_with_row<float>(terms);
    expect_sum_with_row<double>(terms);
  }
}

// If the first matrix has many rows, the kernel also copies a transposed matrix with shorter rows,
// but not with 1024 columns, because all rows of the copy would share cache sets.
TEST(Matmul, MultipliesManyRowsByATransposedMatrixWithShortRows) {
  for (const int64_t columns : {100, 1024}) {
    Matrices<float> a(Layout::kContiguous, 1, 520, 64, 1);
    Matrices<float> b(Layout::kTransposed, 1, 64, columns, 2);
    Matrices<float> out(Layout::kWithGaps, 1, 520, columns, 3);
    const MatmulParams params{a.view, b.view, View(), out.view};
    const std::vector<float> expected = reference<float>(params);
    KernelContext context;
    cpu::run(params, context.ctx);
    EXPECT_TRUE(equal(out.view, expected)) << columns;
    EXPECT_TRUE(out.buffer.guards_intact() && b.buffer.guards_intact());
  }
}

TEST(Matmul, ResultsDoNotDependOnThreadCount) {
  const int threads = get_num_threads();
  Buffer<double> a(small_numbers<double>(300 * 200, 1)), b(small_numbers<double>(200 * 150, 2));
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(a[i] + double(i));
  std::vector<double> results[2];
  for (int i : {0, 1}) {
    set_num_threads(i == 0 ? 1 : 3);
    Buffer<double> out(300 * 150);
    KernelContext context;
    cpu::run(MatmulParams{a.view({300, 200}), b.view({200, 150}), View(), out.view({300, 150})},
             context.ctx);
    results[i] = out.values();
  }
  set_num_threads(threads);
  EXPECT_EQ(results[0], results[1]);
}

TEST(OneDnn, MatmulPrimitiveSupportsStridesAndBroadcastBatches) {
  for (Layout layout_a : {Layout::kContiguous, Layout::kTransposed, Layout::kBroadcastBatch})
    for (Layout layout_b : {Layout::kContiguous, Layout::kTransposed, Layout::kBroadcastBatch}) {
      if (layout_a == layout_b && layout_a == Layout::kBroadcastBatch)
        continue;  // no operand would have the batch size
      Matrices<float> a(layout_a, 3, 20, 30, 1), b(layout_b, 3, 30, 10, 2),
          out(Layout::kContiguous, 3, 20, 10, 3);
      for (double beta : {0, 3}) {
        const std::vector<float> expected =
            reference<float>({a.view, b.view, out.view, out.view, 1, beta});
        ASSERT_TRUE(cpu::onednn::matmul(a.view, b.view, out.view, beta))
            << int(layout_a) << int(layout_b);
        EXPECT_TRUE(equal(out.view, expected)) << int(layout_a) << int(layout_b);
      }
    }
}

}  // namespace
}  // namespace hearth
