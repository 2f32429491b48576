// Max pooling in float32, which uses SIMD vectors for most windows; the reference is float64, which
// uses none.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "hearth/operators.h"
#include "hearth/stream.h"

namespace hearth::testing {
namespace {

/// Few different numbers, so that many are equal, with NaN and -inf among them.
Tensor numbers_with_ties(IntArrayRef sizes) {
  const Tensor x = randint(0, 4, sizes).to(kFloat);
  const Tensor all = x.view({-1});
  all.slice(0, 3, std::nullopt, 17).fill_(NAN);
  all.slice(0, 5, std::nullopt, 7).fill_(-INFINITY);
  return x;
}

/// Expects pool(x) to have the values and indices of pool(x in float64), in both memory formats.
template <class Pool>
void expect_double_precision(const Tensor& x, const Pool& pool) {
  const auto [exact, exact_index] = pool(x.to(kDouble));
  const MemoryFormat last =
      x.dim() == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
  for (const MemoryFormat format : {MemoryFormat::Contiguous, last}) {
    const auto [value, index] = pool(x.contiguous(format));
    EXPECT_TRUE(equal(index, exact_index)) << format;
    EXPECT_TRUE(allclose(value.to(kDouble), exact, 0, 0, /*equal_nan=*/true)) << format;
  }
}

TEST(PoolMax, EqualsDoublePrecision) {
  manual_seed(3);
  for (const int64_t height : {2, 5, 17, 33})
    for (const int64_t width : {height, height + 1, height + 13})
      for (const int64_t kernel : {1, 2, 3})
        for (const int64_t stride : {1, 2, 3})
          for (const int64_t dilation : {1, 2})
            for (const bool ceil_mode : {false, true}) {
              if (height < dilation * (kernel - 1) + 1) continue;
              SCOPED_TRACE(std::to_string(height) + "x" + std::to_string(width) + ", kernel " +
                           std::to_string(kernel) + ", stride " + std::to_string(stride));
              expect_double_precision(
                  numbers_with_ties({2, 19, height, width}), [&](const Tensor& input) {
                    return max_pool2d_with_indices(input, kernel, stride, kernel / 2 * (height % 2),
                                                   dilation, ceil_mode);
                  });
            }
}

// Volumes have windows with a part of their layers, of their rows, and of both.
TEST(PoolMax, VolumesEqualDoublePrecision) {
  manual_seed(4);
  for (const int64_t stride : {1, 2})
    for (const int64_t dilation : {1, 2, 3}) {
      SCOPED_TRACE("stride " + std::to_string(stride) + ", dilation " + std::to_string(dilation));
      expect_double_precision(numbers_with_ties({1, 3, 6, 7, 23}), [&](const Tensor& input) {
        return max_pool3d_with_indices(input, 3, stride, 1, dilation);
      });
    }
}

TEST(PoolMax, AdaptiveWindowsEqualDoublePrecision) {
  manual_seed(5);
  expect_double_precision(numbers_with_ties({2, 35, 9, 20}), [](const Tensor& input) {
    return adaptive_max_pool2d(input, {4, 7});
  });
}

}  // namespace
}  // namespace hearth::testing
