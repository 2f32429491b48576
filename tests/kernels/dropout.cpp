#include "seam/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/mt19937.h"
#include "support.h"

namespace hearth {
namespace {

using testing::Buffer;
using testing::KernelContext;

template <class T>
struct Result {
  std::vector<T> out;
  std::vector<bool> mask;
};

template <class T>
Result<T> dropout(const std::vector<T>& values, double p, Mt19937* mt) {
  Buffer<T> in(values), out(values.size());
  Buffer<bool> mask(values.size());
  const std::vector<int64_t> sizes{static_cast<int64_t>(values.size())};
  DropoutParams params;
  params.in = in.view(sizes);
  params.out = out.view(sizes);
  params.mask = mask.view(sizes);
  params.p = p;
  params.source = {.mt = mt, .seed = 42, .offset = 0};
  KernelContext context;
  cpu::run(params, context.ctx);
  EXPECT_TRUE(out.guards_intact() && mask.guards_intact());
  return {out.values(), mask.values()};
}

template <class T>
std::vector<T> numbers_up_to(int last) {
  std::vector<T> values;
  for (int i = 1; i <= last; ++i) values.push_back(T(static_cast<float>(i)));
  return values;
}

// Expected: F.dropout(torch.arange(1., 9), 0.3) after torch.manual_seed(42).
TEST(Dropout, MatchesPyTorch) {
  Mt19937 mt(42);
  EXPECT_EQ(dropout(numbers_up_to<float>(8), 0.3, &mt).out,
            (std::vector<float>{1.4285714626312256f, 2.857142925262451f, 4.285714149475098f,
                                5.714285850524902f, 7.142857551574707f, 8.571428298950195f, 0, 0}));
  Mt19937 again(42);
  const auto halves = dropout(numbers_up_to<Half>(8), 0.3, &again).out;
  EXPECT_EQ(float(halves[2]), 4.28515625f);
  EXPECT_EQ(float(halves[6]), 0.0f);
}

template <class T>
void expect_dropout(Mt19937* mt, double tolerance) {
  auto values = numbers_up_to<T>(1000);
  for (int doublings = 0; doublings < 4; ++doublings) {
    const auto copy = values;
    values.insert(values.end(), copy.begin(), copy.end());
  }
  for (const double p : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const auto [out, mask] = dropout(values, p, mt);
    double kept = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      kept += mask[i];
      const double expected = mask[i] ? double(values[i]) / (1 - p) : 0;
      ASSERT_NEAR(double(out[i]), expected, tolerance * expected);
    }
    EXPECT_NEAR(kept / double(values.size()), 1 - p,
                5 * std::sqrt(p * (1 - p) / double(values.size())));
  }
}

TEST(Dropout, ScalesKeptElements) {
  Mt19937 mt(1);
  for (Mt19937* source : {&mt, static_cast<Mt19937*>(nullptr)}) {
    expect_dropout<float>(source, 2e-7);
    expect_dropout<double>(source, 4e-16);
    expect_dropout<Half>(source, 1e-3);
    expect_dropout<BFloat16>(source, 8e-3);
  }
}

/// The vector loops have the masks and results of a loop that draws one element after the other.
TEST(Dropout, ComparesAllBitsOfEachDraw) {
  constexpr uint64_t kUnit = uint64_t{1} << 53;
  Mt19937 first(9);
  const uint64_t value = first.random64() % kUnit;
  // The first element is dropped if `keep` equals its drawn number, and kept if `keep` is larger.
  const double drawn = double(value) * 0x1p-53, above = double(value + 1) * 0x1p-53;
  for (const double keep : {0.0, 0.1, 0.5, drawn, above, 1.0})
    for (const int count : {1, 7, 8, 9, 40, 1029}) {
      Mt19937 mt(9), scalar(9);
      const auto [out, mask] = dropout(numbers_up_to<float>(count), 1 - keep, &mt);
      for (size_t i = 0; i < out.size(); ++i) {
        const bool is_kept = double(scalar.random64() % kUnit) * 0x1p-53 < keep;
        ASSERT_EQ(mask[i], is_kept) << keep << ", " << i;
        ASSERT_FLOAT_EQ(out[i], is_kept ? float(i + 1) / float(keep) : 0);
      }
      EXPECT_EQ(mt.random(), scalar.random());
    }
}

TEST(Dropout, DroppedNonFiniteInputsBecomeNan) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto out = dropout<float>({inf, std::nanf(""), -1.0f}, 1, nullptr).out;
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));
  EXPECT_TRUE(out[2] == 0 && std::signbit(out[2]));
}

TEST(Dropout, SupportsDifferentStridesPerView) {
  Buffer<float> in(std::vector<float>(12, 1.0f)), out(24, -1.0f);
  Buffer<bool> mask(12);
  DropoutParams params;
  params.in = in.view({3, 4}, {1, 3});
  params.out = out.view({3, 4}, {8, 2});
  params.mask = mask.view({3, 4});
  KernelContext context;
  cpu::run(params, context.ctx);
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(testing::at<float>(params.out, i), testing::at<bool>(params.mask, i) ? 2.0f : 0.0f);
  for (size_t i = 1; i < 24; i += 2) EXPECT_EQ(out[i], -1.0f);
}

}  // namespace
}  // namespace hearth
