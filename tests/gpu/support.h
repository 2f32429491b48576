// Helpers of the tests that compare the GPU with the CPU, in double precision where rounding
// matters, for shapes that need several blocks, splits, tiles or launches. On simulated GPUs, which
// test the tests themselves, the largest shapes are smaller.
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
  /// One size for real GPUs, another for simulated GPUs or if HEARTH_GPU_TEST_SMALL is set.
  static int64_t by_gpu(int64_t real, int64_t simulated) {
    return is_real_gpu(kGpu) && !std::getenv("HEARTH_GPU_TEST_SMALL") ? real : simulated;
  }
};

/// Random numbers that are exact in `dtype`, as a CPU tensor in double precision.
inline Tensor numbers(IntArrayRef sizes, ScalarType dtype = kFloat) {
  if (is_floating_point(dtype)) return randn(sizes, kDouble).to(dtype).to(kDouble);
  return randint(-100, 100, sizes, kLong).to(kDouble);
}

/// The largest difference, relative to the largest expected magnitude.
inline double difference(const Tensor& actual, const Tensor& expected) {
  const Tensor actual_values = actual.detach().cpu().to(kDouble),
               expected_values = expected.detach().to(kDouble);
  if (!actual_values.sizes().equals(expected_values.sizes())) return INFINITY;
  if (actual_values.numel() == 0) return 0;
  const double scale = std::max(expected_values.abs().max().item<double>(), 1e-30);
  const double result = (actual_values - expected_values).abs().max().item<double>() / scale;
  return std::isnan(result) ? INFINITY : result;
}

/// The allowed difference() of results in a dtype.
inline double tolerance(ScalarType dtype) {
  switch (dtype) {
    case kHalf: return 2e-3;
    case kBFloat16: return 1.6e-2;
    case kFloat: return 2e-5;
    case kDouble: return 1e-12;
    default: return 0;
  }
}

/// Compares the result of `call` on the GPU in `dtype` with that on the CPU in double precision
/// (for integers in `dtype`). `slack` multiplies the tolerance.
inline void expect_same(const Tensor& input, ScalarType dtype,
                        const std::function<Tensor(const Tensor&)>& call,
                        const std::string& description, double slack = 1) {
  const Tensor on_gpu = call(input.to(dtype).to(kGpu));
  const Tensor on_cpu = call(is_floating_point(dtype) ? input : input.to(dtype));
  EXPECT_LE(difference(on_gpu, on_cpu), slack * tolerance(dtype))
      << description << " in " << name_of(dtype);
}

inline void expect_equal(const Tensor& on_gpu, const Tensor& on_cpu,
                         const std::string& description) {
  EXPECT_TRUE(on_gpu.cpu().equal(on_cpu)) << description;
}

using Call = std::function<Tensor(const Tensors&)>;

/// Compares results and gradients on the GPU with those in double precision on the CPU.
inline void expect_same_gradients(const Tensors& inputs, ScalarType dtype, const Call& call,
                                  const std::string& description, double slack = 1) {
  Tensors results[2];
  for (const bool on_gpu : {false, true}) {
    Tensors leaves;
    for (const Tensor& t : inputs) {
      if (!t.is_floating_point())
        leaves.push_back(on_gpu ? t.to(kGpu) : t);
      else
        leaves.push_back(
            (on_gpu ? t.to(dtype).to(kGpu) : t.to(dtype).to(kDouble)).detach().requires_grad_());
    }
    const Tensor out = call(leaves);
    manual_seed(3);
    out.backward(numbers(out.sizes(), dtype).to(out.device(), out.scalar_type()));
    results[on_gpu].push_back(out);
    for (const Tensor& leaf : leaves)
      if (leaf.requires_grad()) results[on_gpu].push_back(leaf.grad());
  }
  ASSERT_EQ(results[1].size(), results[0].size()) << description;
  for (size_t i = 0; i < results[0].size(); ++i)
    EXPECT_LE(difference(results[1][i], results[0][i]), slack * tolerance(dtype))
        << description << ", result " << i << " in " << name_of(dtype);
}

inline const auto kLayerDtypes = {kFloat, kBFloat16, kHalf};

}  // namespace hearth::testing
