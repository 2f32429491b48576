#include "seam/range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support.h"

namespace hearth {
namespace {

using testing::Buffer;
using testing::KernelContext;

template <class T>
std::vector<T> range(RangeParams params, size_t count, int64_t stride = 1) {
  Buffer<T> out(count * size_t(stride));
  params.out = out.view({static_cast<int64_t>(count)});
  params.out.strides[0] = stride;
  KernelContext context;
  cpu::run(params, context.ctx);
  EXPECT_TRUE(out.guards_intact());
  const std::vector<T> all = out.values();
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.push_back(all[i * size_t(stride)]);
  return values;
}

template <class T>
std::vector<T> linspace(double start, double end, size_t count) {
  return range<T>({.kind = RangeParams::Kind::kLinspace, .out = {}, .start = start, .end = end},
                  count);
}

TEST(Arange, OfIntegersIsExact) {
  const int64_t big = (int64_t{1} << 62) + 1;
  const auto values = range<int64_t>({.out = {}, .istart = big, .istep = -3}, 100);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(values[size_t(i)], big - 3 * i);
  EXPECT_EQ(range<uint8_t>({.out = {}, .istart = 250, .istep = 2}, 3),
            (std::vector<uint8_t>{250, 252, 254}));
}

/// Contiguous elements are computed with vector instructions, others one by one.
TEST(Arange, IsRoundedOnce) {
  const double start = -5.7, step = 1e-3;
  for (const int64_t stride : {1, 2}) {
    const auto floats = range<float>({.out = {}, .start = start, .step = step}, 100003, stride);
    const auto doubles = range<double>({.out = {}, .start = start, .step = step}, 100003, stride);
    for (size_t i = 0; i < floats.size(); ++i) {
      const long double exact = start + step * static_cast<long double>(i);
      ASSERT_EQ(floats[i], static_cast<float>(exact));
      // A double from `exact` would be rounded twice.
      ASSERT_EQ(doubles[i], std::fma(step, static_cast<double>(i), start));
    }
  }
}

TEST(Linspace, IsRoundedOnceFromTheNearerEnd) {
  const float start = -1.7f, end = 2.9f;
  for (const size_t count : {size_t{2}, size_t{17}, size_t{100003}})
    for (const int64_t stride : {1, 2}) {
      const auto values = range<float>(
          {.kind = RangeParams::Kind::kLinspace, .out = {}, .start = start, .end = end}, count,
          stride);
      const float step = (end - start) / static_cast<float>(count - 1);
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(values[i], i < count / 2
                                 ? std::fma(step, static_cast<float>(i), start)
                                 : std::fma(-step, static_cast<float>(count - 1 - i), end))
            << i;
    }
}

TEST(Linspace, IncludesBothEnds) {
  EXPECT_EQ(linspace<float>(0, 1, 5), (std::vector<float>{0, 0.25f, 0.5f, 0.75f, 1}));
  EXPECT_EQ(linspace<float>(3, 9, 1), (std::vector<float>{3}));
  EXPECT_EQ(linspace<double>(3, 9, 2), (std::vector<double>{3, 9}));
  EXPECT_EQ(linspace<Half>(-3.3, 7.9, 1001).back().x, Half(7.9f).x);
  const auto values = linspace<float>(0.1, 0.7, 1000);
  for (size_t i = 0; i < 1000; ++i)
    ASSERT_NEAR(values[i], 0.1 + 0.6 * static_cast<double>(i) / 999, 1e-7);
}

/// Expected: torch.linspace(-10, 10, 8, dtype=torch.int64) and
/// torch.linspace(0, 20, 7, dtype=torch.uint8).
TEST(Linspace, OfIntegersTruncates) {
  EXPECT_EQ(linspace<int64_t>(-10, 10, 8), (std::vector<int64_t>{-10, -7, -4, -1, 1, 4, 7, 10}));
  EXPECT_EQ(linspace<uint8_t>(0, 20, 7), (std::vector<uint8_t>{0, 3, 6, 10, 13, 16, 20}));
}

TEST(Range, FillsInRowMajorOrder) {
  Buffer<int32_t> out(6);
  RangeParams params;
  params.out = out.view({2, 3}, {1, 2});
  KernelContext context;
  cpu::run(params, context.ctx);
  EXPECT_EQ(out.values(), (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Range, AcceptsEmptyTensors) {
  EXPECT_TRUE(range<float>({}, 0).empty());
  EXPECT_TRUE(linspace<float>(0, 1, 0).empty());
}

}  // namespace
}  // namespace hearth
