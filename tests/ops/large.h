#pragma once

// Rows of calls with tensors so large that CPU kernels split the work between threads.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "tests/support/op_table.h"

namespace hearth::testing {

using Numbers = std::vector<double>;

/// Sizes and elements of a tensor; the elements are exact in float32.
struct Large {
  std::vector<int64_t> sizes;
  Numbers values;

  double operator[](int64_t i) const { return values[size_t(i)]; }
  Tensor tensor(ScalarType dtype) const {
    const Tensor t = empty(sizes, kDouble);
    std::copy(values.begin(), values.end(), t.data_ptr<double>());
    return t.to(dtype);
  }
};

/// Pseudo-random numbers from -1 to 1, exact in bfloat16 unless `float_precision` is set.
inline Large large(std::vector<int64_t> sizes, uint32_t seed, bool float_precision = true) {
  Large result{std::move(sizes), {}};
  int64_t count = 1;
  for (const int64_t size : result.sizes) count *= size;
  uint32_t state = seed * 2654435761u + 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const double value = float_precision ? double(state >> 9) / double(1 << 22) - 1
                                         : double(int(state >> 25) - 64) / 64;
    result.values.push_back(double(float(value)));
  }
  return result;
}

/// Pseudo-random whole numbers in [0, end).
inline Large large_indices(std::vector<int64_t> sizes, int64_t end, uint32_t seed) {
  Large result = large(std::move(sizes), seed);
  for (double& v : result.values)
    v = std::min(std::floor((v + 1) / 2 * double(end)), double(end - 1));
  return result;
}

inline Array zeros_of(std::vector<int64_t> sizes) {
  const int64_t count = count_of(sizes);
  return {std::move(sizes), Numbers(size_t(count), 0)};
}

/// A call, and the expected values of its first outputs.
struct LargeCase {
  std::function<Tensors()> call;
  Arrays wanted;
};

struct LargeRow {
  std::string name;
  std::vector<std::string> kernels;  // the names in HEARTH_KERNELS of the kernels that it runs
  std::function<LargeCase(ScalarType)> make;
  double slack = 4;
  DtypeSet dtypes = dtypes::kFloatAndDouble;
};

std::vector<LargeRow>& large_rows();
struct RegisterLarge {
  explicit RegisterLarge(LargeRow row) { large_rows().push_back(std::move(row)); }
};

/// The output of f and its gradients with respect to the inputs, for a given output gradient.
inline Tensors with_gradients(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                              const Tensor& gradient) {
  Tensors leaves;
  for (const Tensor& t : inputs) leaves.push_back(t.detach().requires_grad_());
  const Tensor out = f(leaves);
  Tensors result{out.detach()};
  for (const Tensor& g : autograd::grad({out}, leaves, {gradient})) result.push_back(g);
  return result;
}

}  // namespace hearth::testing
