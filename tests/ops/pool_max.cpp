// Max pooling in float32, which uses SIMD vectors for windows inside the input; the reference is
// float64, which uses none.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/operators.h"

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

TEST(PoolMax, EqualsDoublePrecision) {
  manual_seed(3);
  for (const int64_t height : {2, 5, 17, 33})
    for (const int64_t width : {height, height + 1, height + 13})
      for (const int64_t kernel : {1, 2, 3})
        for (const int64_t stride : {1, 2, 3})
          for (const int64_t dilation : {1, 2})
            for (const bool ceil_mode : {false, true}) {
              if (height < dilation * (kernel - 1) + 1) continue;
              const Tensor x = numbers_with_ties({2, 3, height, width});
              const auto pool = [&](const Tensor& input) {
                return max_pool2d_with_indices(input, kernel, stride, kernel / 2 * (height % 2),
                                               dilation, ceil_mode);
              };
              const auto [value, index] = pool(x);
              const auto [exact, exact_index] = pool(x.to(kDouble));
              ASSERT_TRUE(equal(index, exact_index))
                  << height << "x" << width << ", kernel " << kernel << ", stride " << stride;
              ASSERT_TRUE(allclose(value.to(kDouble), exact, 0, 0, /*equal_nan=*/true));
            }
}

}  // namespace
}  // namespace hearth::testing
