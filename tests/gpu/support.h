// The GPU against the CPU, in double where rounding counts, on shapes that need several blocks,
// splits, tiles or launches. On simulated GPUs the largest shapes are smaller: there the tests show
// that they themselves are right.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "hearth/hearth.h"
#include "tests/support/devices.h"

namespace hearth::testing {

using Tensors = std::vector<Tensor>;

inline const Device kGpu{DeviceType::CUDA, 0};

class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_not();
    manual_seed(2024);
  }
  /// A size for real GPUs, and one for simulated ones or where HEARTH_GPU_TEST_SMALL asks for it.
  static int64_t pick(int64_t real, int64_t simulated) {
    return is_real_gpu(kGpu) && !std::getenv("HEARTH_GPU_TEST_SMALL") ? real : simulated;
  }
};

/// Random numbers that the dtype holds exactly, on the CPU in double.
inline Tensor numbers(IntArrayRef sizes, ScalarType dtype = kFloat) {
  if (is_floating_point(dtype)) return randn(sizes, kDouble).to(dtype).to(kDouble);
  return randint(-100, 100, sizes, kLong).to(kDouble);
}

/// The largest difference, relative to the largest number.
inline double difference(const Tensor& got, const Tensor& wanted) {
  const Tensor mine = got.detach().cpu().to(kDouble), right = wanted.detach().to(kDouble);
  if (!mine.sizes().equals(right.sizes())) return INFINITY;
  if (mine.numel() == 0) return 0;
  const double scale = std::max(right.abs().max().item<double>(), 1e-30);
  const double found = (mine - right).abs().max().item<double>() / scale;
  return std::isnan(found) ? INFINITY : found;
}

/// How exact results of a dtype are, relative to their largest number.
inline double tolerance(ScalarType dtype) {
  switch (dtype) {
    case kHalf: return 2e-3;
    case kBFloat16: return 1.6e-2;
    case kFloat: return 2e-5;
    case kDouble: return 1e-12;
    default: return 0;
  }
}

/// Checks that what `call` makes on the GPU in a dtype is what it makes on the CPU in double (from
/// integers: in the dtype itself).
inline void expect_same(const Tensor& wide, ScalarType dtype,
                        const std::function<Tensor(const Tensor&)>& call, const std::string& what,
                        double slack = 1) {
  const Tensor there = call(wide.to(dtype).to(kGpu));
  const Tensor here = call(is_floating_point(dtype) ? wide : wide.to(dtype));
  EXPECT_LE(difference(there, here), slack * tolerance(dtype)) << what << " in " << name_of(dtype);
}

inline void expect_equal(const Tensor& there, const Tensor& here, const std::string& what) {
  EXPECT_TRUE(there.cpu().equal(here)) << what;
}

}  // namespace hearth::testing
