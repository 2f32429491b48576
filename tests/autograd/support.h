#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "hearth/operators.h"
#include "hearth/tensor.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

namespace hearth::testing {

using autograd::variable_list;

/// A one-dimensional CPU tensor with the given values.
inline Tensor vec(std::vector<double> values, ScalarType type = kFloat) {
  return from_blob(values.data(), {int64_t(values.size())}, TensorOptions(kDouble))
      .to(type, false, true);
}
/// A leaf with the given values that requires grad.
inline Tensor leaf(const std::vector<double>& values, ScalarType type = kFloat) {
  return vec(values, type).requires_grad_();
}

inline std::vector<double> values_of(const Tensor& tensor) {
  const AutoGradMode off(false);
  const Tensor host = tensor.to(Device(DeviceType::CPU), kDouble).contiguous();
  const double* data = host.data_ptr<double>();
  return {data, data + host.numel()};
}

inline void expect_values(const Tensor& tensor, const std::vector<double>& wanted,
                          double tolerance = 1e-5) {
  ASSERT_TRUE(tensor.defined());
  const std::vector<double> got = values_of(tensor);
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance) << "element " << i;
}

/// The gradient of a scalar function f at x by central differences.
template <class F>
std::vector<double> numeric_gradient(const F& f, const Tensor& x, double step = 1e-5) {
  const AutoGradMode off(false);
  const Tensor probe = x.detach().clone();
  double* elements = probe.data_ptr<double>();
  std::vector<double> gradient;
  for (int64_t i = 0; i < probe.numel(); ++i) {
    const double middle = elements[i];
    elements[i] = middle + step;
    const double above = f(probe).template item<double>();
    elements[i] = middle - step;
    const double below = f(probe).template item<double>();
    elements[i] = middle;
    gradient.push_back((above - below) / (2 * step));
  }
  return gradient;
}

inline int num_gpus() { return cuda::device_count(); }

}  // namespace hearth::testing
