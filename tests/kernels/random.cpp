#include "seam/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/mt19937.h"
#include "core/threads.h"
#include "kernels/draws.h"
#include "support.h"

namespace hearth {
namespace {

using testing::Buffer;
using testing::KernelContext;
using Kind = RandomParams::Kind;

/// The expected numbers are PyTorch's after torch.Generator().manual_seed(42).
constexpr uint64_t kSeed = 42;

/// The parameters of a distribution, as in RandomParams.
struct Distribution {
  Kind kind;
  double a = 0, b = 1;
  int64_t from = 0, to = 0;
};

void draw(const View& out, const Distribution& distribution, Mt19937* mt, uint64_t offset = 0) {
  RandomParams params;
  params.kind = distribution.kind;
  params.out = out;
  params.a = distribution.a;
  params.b = distribution.b;
  params.from = distribution.from;
  params.to = distribution.to;
  params.source = {.mt = mt, .seed = kSeed, .offset = offset};
  KernelContext context;
  cpu::run(params, context.ctx);
  EXPECT_FALSE(context.has_fault());
}

template <class T>
std::vector<T> draw_from(const Distribution& distribution, size_t count, Mt19937* mt,
                         uint64_t offset = 0) {
  Buffer<T> out(count);
  draw(out.view({static_cast<int64_t>(count)}), distribution, mt, offset);
  EXPECT_TRUE(out.guards_intact());
  return out.values();
}

template <class T>
std::vector<T> draw_mt(const Distribution& distribution, size_t count) {
  Mt19937 mt(kSeed);
  return draw_from<T>(distribution, count, &mt);
}

template <class T>
std::vector<T> draw_philox(const Distribution& distribution, size_t count, uint64_t offset = 0) {
  return draw_from<T>(distribution, count, nullptr, offset);
}

template <class T>
void expect_start(const std::vector<T>& values, std::initializer_list<double> expected,
                  double tolerance = 0) {
  size_t i = 0;
  for (const double value : expected)
    EXPECT_NEAR(double(values[i++]), value, tolerance) << "at " << i - 1;
}

TEST(RandomMt19937, UniformMatchesPyTorch) {
  expect_start(draw_mt<float>({Kind::kUniform}, 4),
               {0.8822692632675171, 0.9150039553642273, 0.38286375999450684, 0.9593056440353394});
  expect_start(draw_mt<double>({Kind::kUniform}, 4), {0.05815448596142969, 0.06291016742457756,
                                                      0.12358607277440903, 0.05258016436107704});
  expect_start(draw_mt<float>({Kind::kUniform, -2, 3}, 4),
               {2.411346435546875, 2.5750198364257812, -0.08568120002746582, 2.7965283393859863});
}

TEST(Random, UniformExcludesTheUpperBound) {
  const double end = 1 + 0x1p-22;
  for (const float value : draw_mt<float>({Kind::kUniform, 1, end}, 1000)) EXPECT_LT(value, end);
  for (const Half value : draw_mt<Half>({Kind::kUniform}, 100000)) ASSERT_LT(float(value), 1);
  for (const BFloat16 value : draw_philox<BFloat16>({Kind::kUniform}, 100000))
    ASSERT_LT(float(value), 1);
}

TEST(RandomMt19937, NormalMatchesPyTorchForFewElements) {
  expect_start(draw_mt<float>({Kind::kNormal}, 6),
               {0.33669036626815796, 0.12880940735340118, 0.23446236550807953, 0.23033303022384644,
                -1.1228563785552979, -0.18632829189300537},
               1e-7);
}

TEST(RandomMt19937, NormalMatchesPyTorchInBlocks) {
  const auto floats = draw_mt<float>({Kind::kNormal}, 19);
  expect_start(floats,
               {1.9269152879714966, 1.4872840642929077, 0.9007171988487244, 0.439589262008667},
               1e-6);
  EXPECT_NEAR(floats[18], 0.8034093379974365, 1e-6);
  const auto doubles = draw_mt<double>({Kind::kNormal}, 19);
  expect_start(doubles, {0.2995562877502637, 0.24237779080894106, 0.28320739441795323}, 1e-14);
  EXPECT_NEAR(doubles[18], -1.526543923410825, 1e-14);
  const auto halves = draw_mt<Half>({Kind::kNormal}, 19);
  expect_start(halves, {1.9267578125, 1.4873046875, 0.90087890625, 1.642578125});
  EXPECT_EQ(float(halves[18]), 0.85986328125f);
}

TEST(RandomMt19937, NormalUsesTheCachedValue) {
  Mt19937 mt(kSeed);
  const auto first = draw_from<float>({Kind::kNormal}, 3, &mt);
  const auto second = draw_from<float>({Kind::kNormal}, 3, &mt);
  EXPECT_NEAR(first[2], 0.23446236550807953, 1e-7);
  EXPECT_NEAR(second[0], 0.23033303022384644, 1e-7);
}

TEST(RandomMt19937, IntegersMatchPyTorch) {
  expect_start(draw_mt<int64_t>({Kind::kRandomInt, 0, 0, -5, 100}, 6), {52, -3, 41, 14, 76, 75});
  const auto wide = draw_mt<int64_t>({Kind::kRandomInt, 0, 0, 0, int64_t{1} << 40}, 2);
  EXPECT_EQ(wide, (std::vector<int64_t>{441507790259, 395924837646}));
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(draw_mt<int64_t>({Kind::kRandomInt, 0, 0, least, least}, 3),
            (std::vector<int64_t>{6909045637428952499, -909160480315697906, -4943839226470214585}));
}

TEST(RandomMt19937, FullRangeMatchesPyTorch) {
  expect_start(draw_mt<uint8_t>({Kind::kRandom}, 3), {102, 179, 92});
  expect_start(draw_mt<int8_t>({Kind::kRandom}, 3), {102, 51, 92});
  expect_start(draw_mt<int16_t>({Kind::kRandom}, 3), {23654, 15795, 860});
  expect_start(draw_mt<int32_t>({Kind::kRandom}, 3), {1608637542, 1273642419, 1935803228});
  EXPECT_EQ(draw_mt<int64_t>({Kind::kRandom}, 2),
            (std::vector<int64_t>{6909045637428952499, 8314211556539077902}));
  expect_start(draw_mt<Half>({Kind::kRandom}, 3), {426, 923, 745});
  expect_start(draw_mt<BFloat16>({Kind::kRandom}, 3), {12, 149, 201});
  expect_start(draw_mt<float>({Kind::kRandom}, 3), {14801927, 15351016, 6423145});
  expect_start(draw_mt<double>({Kind::kRandom}, 3),
               {523809042610868, 566644413140339, 1113164382588524});
}

TEST(RandomMt19937, BernoulliAndExponentialMatchPyTorch) {
  expect_start(draw_mt<float>({Kind::kBernoulli, 0.3}, 8), {1, 1, 1, 1, 0, 0, 0, 0});
  expect_start(draw_mt<bool>({Kind::kBernoulli, 0.3}, 8), {1, 1, 1, 1, 0, 0, 0, 0});
  expect_start(draw_mt<float>({Kind::kExponential, 1.5}, 3),
               {0.039942678064107895, 0.04331741854548454, 0.08794452250003815}, 1e-8);
}

TEST(RandomMt19937, PermutationMatchesPyTorch) {
  EXPECT_EQ(draw_mt<int64_t>({Kind::kRandPerm}, 10),
            (std::vector<int64_t>{2, 6, 1, 8, 4, 5, 0, 9, 3, 7}));
}

TEST(RandomMt19937, FillsInMemoryOrder) {
  Buffer<float> out(6);
  Mt19937 mt(kSeed);
  draw(out.view({2, 3}, {1, 2}), {Kind::kUniform}, &mt);  // a transposed 3 x 2 tensor
  EXPECT_EQ(out.values(), draw_mt<float>({Kind::kUniform}, 6));

  Buffer<float> with_gaps(24, -1);
  Mt19937 again(kSeed);
  draw(with_gaps.view({2, 3}, {12, 3}, 1), {Kind::kUniform}, &again);
  const std::vector<float> values = with_gaps.values();
  expect_start(values, {-1, 0.8822692632675171, -1, -1, 0.9150039553642273});
  EXPECT_EQ(std::count(values.begin(), values.end(), -1.0f), 18);
}

/// The Kolmogorov-Smirnov statistic: the largest distance between empirical and expected
/// distribution functions.
template <class F>
double kolmogorov(std::vector<double> values, const F& distribution) {
  std::sort(values.begin(), values.end());
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst,
                     std::abs(distribution(values[i]) - (double(i) + 0.5) / double(values.size())));
  return worst;
}

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values) {
  return std::vector<double>(values.begin(), values.end());
}

/// Checks both generators in one dtype. A correct generator exceeds a bound with probability 1e-6.
template <class T>
void expect_distributions() {
  constexpr size_t count = 40000;
  const double rounding = sizeof(T) == 2 ? 0.004 : 0;
  const double bound = 2.7 / std::sqrt(double(count)) + rounding;
  Mt19937 mt(1);
  for (Mt19937* source : {&mt, static_cast<Mt19937*>(nullptr)}) {
    const auto sample = [&](const Distribution& distribution) {
      return as_doubles(draw_from<T>(distribution, count, source, 4));
    };
    EXPECT_LT(kolmogorov(sample({Kind::kUniform, -1, 3}), [](double x) { return (x + 1) / 4; }),
              bound);
    EXPECT_LT(kolmogorov(sample({Kind::kNormal, 2, 0.5}),
                         [](double x) { return std::erfc((2 - x) / 0.5 * std::sqrt(0.5)) / 2; }),
              bound);
    EXPECT_LT(
        kolmogorov(sample({Kind::kExponential, 2}), [](double x) { return -std::expm1(-2 * x); }),
        bound);
    const auto ones = sample({Kind::kBernoulli, 0.3});
    EXPECT_NEAR(std::accumulate(ones.begin(), ones.end(), 0.0) / count, 0.3, 0.012);
  }
}

TEST(Random, FollowsTheDistribution) {
  expect_distributions<float>();
  expect_distributions<double>();
  expect_distributions<Half>();
  expect_distributions<BFloat16>();
}

TEST(Random, BernoulliIsConstantForProbabilitiesZeroAndOne) {
  for (const bool value : draw_philox<bool>({Kind::kBernoulli, 1}, 1000)) EXPECT_TRUE(value);
  for (const bool value : draw_philox<bool>({Kind::kBernoulli, 0}, 1000)) EXPECT_FALSE(value);
  for (const float value : draw_mt<float>({Kind::kBernoulli, 1}, 1000)) EXPECT_EQ(value, 1);
}

TEST(Random, BernoulliUsesElementwiseProbabilities) {
  Buffer<double> probabilities{0, 1, 0, 1};
  Buffer<float> out(12);
  RandomParams params;
  params.kind = Kind::kBernoulliTensor;
  params.out = out.view({3, 4});
  params.probabilities = probabilities.view({3, 4}, {0, 1});
  KernelContext context;
  cpu::run(params, context.ctx);
  EXPECT_EQ(out.values(), (std::vector<float>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_FALSE(context.has_fault());
}

TEST(Random, BernoulliReportsInvalidProbabilities) {
  for (const float wrong : {-0.1f, 1.1f, std::nanf("")}) {
    Buffer<float> probabilities{0.5f, wrong};
    Buffer<float> out(2);
    RandomParams params;
    params.kind = Kind::kBernoulliTensor;
    params.out = out.view({2});
    params.probabilities = probabilities.view({2});
    KernelContext context;
    cpu::run(params, context.ctx);
    EXPECT_EQ(context.faults.fault, static_cast<int32_t>(Fault::kBadProbability));
  }
}

TEST(RandomPhilox, ElementsDependOnTheirIndexOnly) {
  const auto numbers = draw_philox<float>({Kind::kUniform}, 50000, 8);
  for (size_t i : {0, 1, 2, 3, 4, 1023, 1024, 49999})
    EXPECT_EQ(numbers[i], UniformDraw<float>(0, 1)(philox_bits<uint32_t>(kSeed, 8, i)));
  const int former = get_num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    EXPECT_EQ(draw_philox<float>({Kind::kUniform}, 50000, 8), numbers);
  }
  set_num_threads(former);
  const auto start = draw_philox<float>({Kind::kUniform}, 1001, 8);
  EXPECT_TRUE(std::equal(start.begin(), start.end(), numbers.begin()));
  EXPECT_NE(draw_philox<float>({Kind::kUniform}, 50000, 12), numbers);
}

TEST(RandomPhilox, ElementsDoNotDependOnStrides) {
  const auto expected = draw_philox<double>({Kind::kNormal}, 35);
  Buffer<double> out(35);
  const View view = out.view({5, 7}, {1, 5});
  draw(view, {Kind::kNormal}, nullptr);
  for (int64_t i = 0; i < 35; ++i) EXPECT_EQ(testing::at<double>(view, i), expected[size_t(i)]);
}

TEST(RandomPhilox, PermutationContainsEveryIndex) {
  auto permutation = draw_philox<int64_t>({Kind::kRandPerm}, 1000);
  EXPECT_FALSE(std::is_sorted(permutation.begin(), permutation.end()));
  EXPECT_NE(permutation, draw_philox<int64_t>({Kind::kRandPerm}, 1000, 4));
  std::sort(permutation.begin(), permutation.end());
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(permutation[size_t(i)], i);
}

TEST(Random, AcceptsEmptyTensors) {
  for (const Kind kind : {Kind::kUniform, Kind::kNormal, Kind::kRandPerm, Kind::kBernoulli}) {
    EXPECT_TRUE(draw_mt<int64_t>({kind}, 0).empty());
    EXPECT_TRUE(draw_philox<int64_t>({kind}, 0).empty());
  }
}

}  // namespace
}  // namespace hearth
