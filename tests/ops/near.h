#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"

namespace hearth::testing {

/// Expects numbers in row-major order; NaN and infinities must be equal.
inline void expect_near(const Tensor& t, const std::vector<double>& wanted,
                        double tolerance = 1e-6) {
  const std::vector<double> got = to_array(t).values;
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    } else if (std::isinf(wanted[i])) {
      EXPECT_EQ(got[i], wanted[i]) << "element " << i;
    } else {
      EXPECT_NEAR(got[i], wanted[i], tolerance) << "element " << i;
    }
  }
}

inline Tensor doubles(std::vector<double> values) { return tensor(values, kDouble); }
inline Tensor leaf(std::vector<double> values) {
  return doubles(std::move(values)).requires_grad_();
}

}  // namespace hearth::testing
