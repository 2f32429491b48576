#include "seam/minmax_dim.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "hearth/threads.h"
#include "tests/kernels/guarded.h"

namespace hearth::testing {
namespace {

using Sizes = std::vector<int64_t>;

struct MinmaxCase {
  Sizes sizes;
  Sizes strides;  // empty: contiguous
  int dim;
};

const std::vector<MinmaxCase> kMinmaxCases = {
    {{1}, {}, 0},
    {{9}, {}, 0},
    {{300001}, {}, 0},
    {{5000}, {3}, 0},
    {{70}, {0}, 0},
    {{33, 65}, {}, 0},
    {{33, 65}, {}, 1},
    {{33, 65}, {1, 33}, 0},
    {{33, 65}, {1, 33}, 1},
    {{1000, 10}, {}, 1},
    {{1000, 10}, {}, 0},
    {{4, 2000}, {}, 1},
    {{4, 200, 3}, {}, 1},
    {{4, 200, 3}, {600, 1, 200}, 1},
    {{3, 4, 5}, {0, 1, 4}, 2},
    {{3, 1, 5}, {}, 1},
    {{2, 3, 0}, {}, 1},
    {{700, 1500}, {}, 0},
};

template <class T>
double widened(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return float(value);
  else
    return double(value);
}

/// The row-major index of element i of the slice along `dim` that is reduced to output o.
int64_t element_index(const MinmaxCase& c, int64_t o, int64_t i) {
  int64_t inner = 1;
  for (size_t d = size_t(c.dim) + 1; d < c.sizes.size(); ++d) inner *= c.sizes[d];
  return (o / inner * c.sizes[size_t(c.dim)] + i) * inner + o % inner;
}

template <class T>
void expect_minmax(const MinmaxCase& c, const Guarded<T>& in, bool largest) {
  Sizes out_sizes = c.sizes;
  out_sizes[size_t(c.dim)] = 1;
  Guarded<T> values(out_sizes);
  Guarded<int64_t> indices(out_sizes);
  run_on_cpu(MinMaxDimParams{in.view(), values.view(), indices.view(), c.dim, largest});
  for (int64_t o = 0; o < values.numel(); ++o) {
    int64_t best = 0;
    double value = widened(in[element_index(c, o, 0)]);
    for (int64_t i = 1; i < c.sizes[size_t(c.dim)]; ++i) {
      const double x = widened(in[element_index(c, o, i)]);
      const bool is_better = largest ? x > value : x < value;
      if (!std::isnan(value) && (is_better || std::isnan(x))) {
        best = i;
        value = x;
      }
    }
    ASSERT_EQ(indices[o], best) << "output " << o << " of case " << &c - kMinmaxCases.data();
    const double got = widened(values[o]);
    ASSERT_TRUE(std::isnan(value) ? std::isnan(got) : got == value)
        << got << " instead of " << value;
  }
  ASSERT_TRUE(values.intact());
  ASSERT_TRUE(indices.intact());
}

template <class T>
void check(int num_values, bool with_nan = false) {
  for (const MinmaxCase& c : kMinmaxCases) {
    Guarded<T> in(c.sizes, c.strides);
    std::mt19937 random(1);
    for (int64_t i = 0; i < in.numel(); ++i) {
      const int value =
          int(random() % unsigned(num_values)) - (std::is_signed_v<T> ? num_values / 2 : 0);
      in[i] = T(float(value));
      if constexpr (std::numeric_limits<T>::has_quiet_NaN)
        if (with_nan && random() % 50 == 0) in[i] = std::numeric_limits<T>::quiet_NaN();
    }
    expect_minmax(c, in, true);
    expect_minmax(c, in, false);
  }
}

TEST(MinMaxDim, TiesGiveTheFirstIndex) {
  check<float>(5);
  check<double>(5);
  check<uint8_t>(200);
  check<int8_t>(5);
  check<int16_t>(100);
  check<int32_t>(100);
  check<int64_t>(5);
  check<bool>(2);
  check<Half>(5);
  check<BFloat16>(5);
}

TEST(MinMaxDim, FindsDistinctValues) {
  check<float>(1 << 24);
  check<int64_t>(1 << 24);
}

TEST(MinMaxDim, FirstNanIsTheResult) {
  check<float>(100, true);
  check<double>(100, true);
}

TEST(MinMaxDim, FindsInfinities) {
  Guarded<float> in({3});
  for (int i = 0; i < 3; ++i) in[i] = -std::numeric_limits<float>::infinity();
  Guarded<float> value({1});
  Guarded<int64_t> index({1});
  run_on_cpu(MinMaxDimParams{in.view(), value.view(), index.view(), 0, true});
  EXPECT_EQ(value[0], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(index[0], 0);
}

TEST(MinMaxDim, OutputsAreOptionalAndStrided) {
  Guarded<int32_t> in({2, 3, 4});
  for (int i = 0; i < 24; ++i) in[i] = i * 7 % 12;
  Guarded<int32_t> values({2, 1, 4}, {50, 1, 9});
  Guarded<int64_t> indices({2, 1, 4}, {1, 1, 3}), indices_only({2, 1, 4});
  run_on_cpu(MinMaxDimParams{in.view(), values.view(), indices.view(), 1, true});
  run_on_cpu(MinMaxDimParams{in.view(), View(), indices_only.view(), 1, true});
  for (int64_t o = 0; o < 8; ++o) {
    const MinmaxCase c{{2, 3, 4}, {}, 1};
    EXPECT_EQ(in[element_index(c, o, indices[o])], values[o]);
    EXPECT_EQ(indices_only[o], indices[o]);
    for (int64_t i = 0; i < 3; ++i) EXPECT_LE(in[element_index(c, o, i)], values[o]);
  }
  EXPECT_TRUE(values.intact());
  EXPECT_TRUE(indices.intact());
}

TEST(MinMaxDim, ScalarIsItsOwnMinimum) {
  Guarded<double> in({}), value({});
  Guarded<int64_t> index({});
  in[0] = 3;
  run_on_cpu(MinMaxDimParams{in.view(), value.view(), index.view(), 0, false});
  EXPECT_EQ(value[0], 3);
  EXPECT_EQ(index[0], 0);
}

TEST(MinMaxDim, ResultsDoNotDependOnThreadCount) {
  const int former = get_num_threads();
  set_num_threads(4);
  check<float>(3);
  set_num_threads(former);
}

}  // namespace
}  // namespace hearth::testing
