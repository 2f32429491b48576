#pragma once

// Fourier transforms by their definition, in double.

#include <cmath>
#include <complex>
#include <optional>

#include "tests/support/op_table.h"

namespace hearth::testing {

/// Complex numbers with sizes, row-major.
struct Signal {
  std::vector<int64_t> sizes;
  std::vector<std::complex<double>> values;
};

/// The signal with f applied to each line along `dim`: f(line) returns the new line.
template <class F>
Signal along(const Signal& in, size_t dim, int64_t new_size, const F& f) {
  Signal out{in.sizes, {}};
  out.sizes[dim] = new_size;
  out.values.resize(size_t(count_of(out.sizes)));
  std::vector<int64_t> others = in.sizes;
  others[dim] = 1;
  for (int64_t i = 0; i < count_of(others); ++i) {
    Position at = position_of(i, others);
    std::vector<std::complex<double>> line;
    for (at[dim] = 0; at[dim] < in.sizes[dim]; ++at[dim])
      line.push_back(in.values[size_t(linear_of(at, in.sizes))]);
    const auto result = f(line);
    for (at[dim] = 0; at[dim] < new_size; ++at[dim])
      out.values[size_t(linear_of(at, out.sizes))] = result[size_t(at[dim])];
  }
  return out;
}

/// The line's transform; `forward` has the negative exponent.
inline std::vector<std::complex<double>> dft(const std::vector<std::complex<double>>& line,
                                             bool forward) {
  const size_t n = line.size();
  std::vector<std::complex<double>> roots, result;
  for (size_t k = 0; k < n; ++k)
    roots.push_back(std::polar(1.0, (forward ? -2 : 2) * M_PI * double(k) / double(n)));
  for (size_t k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (size_t j = 0; j < n; ++j) sum += line[j] * roots[j * k % n];
    result.push_back(sum);
  }
  return result;
}

/// The n numbers of a Hermitian sequence from its first half.
inline std::vector<std::complex<double>> mirrored(std::vector<std::complex<double>> half,
                                                  int64_t n) {
  half.resize(size_t(n));
  for (int64_t k = n / 2 + 1; k < n; ++k) half[size_t(k)] = std::conj(half[size_t(n - k)]);
  half[0] = half[0].real();
  if (n % 2 == 0) half[size_t(n / 2)] = half[size_t(n / 2)].real();
  return half;
}

/// Whether the input and the output of a transform are complex, or which of them is real.
enum class Sides { kComplex, kFromReal, kToReal };

/// A transform along `dims` of the signal, cut or padded to `sizes` (by default, the input's). With
/// kToReal, the last of `sizes` is the output's (by default, 2 * (the input's size - 1)).
struct Transform {
  Sides sides;
  bool forward;
  std::vector<int64_t> dims = {-1};
  std::vector<int64_t> sizes = {};
  std::string norm = "backward";
};

inline Signal transformed(const Transform& t, Signal x) {
  double num_points = 1;
  const size_t count = t.dims.size();
  for (size_t i = count; i-- > 0;) {
    const bool is_last = i + 1 == count, to_real = is_last && t.sides == Sides::kToReal;
    const size_t d = size_t(t.dims[i] < 0 ? t.dims[i] + int64_t(x.sizes.size()) : t.dims[i]);
    const int64_t size = to_real ? 2 * (x.sizes[d] - 1) : x.sizes[d];
    const int64_t n = t.sizes.empty() ? size : t.sizes[i];
    num_points *= double(n);
    x = along(x, d, to_real ? n / 2 + 1 : n, [&](std::vector<std::complex<double>> line) {
      line.resize(size_t(to_real ? n / 2 + 1 : n));
      return line;
    });
    const bool keeps_half = is_last && t.sides == Sides::kFromReal;
    if (to_real) continue;
    x = along(x, d, keeps_half ? n / 2 + 1 : n,
              [&](const auto& line) { return dft(line, t.forward); });
  }
  if (t.sides == Sides::kToReal) {
    const size_t d =
        size_t(t.dims.back() < 0 ? t.dims.back() + int64_t(x.sizes.size()) : t.dims.back());
    const int64_t n = t.sizes.empty() ? 2 * (x.sizes[d] - 1) : t.sizes.back();
    x = along(x, d, n, [&](const auto& line) { return dft(mirrored(line, n), t.forward); });
  }
  const bool divides = (t.norm == "forward") == t.forward;
  const double scale = t.norm == "ortho" ? 1 / std::sqrt(num_points) : divides ? 1 / num_points : 1;
  for (auto& value : x.values) value *= scale;
  return x;
}

}  // namespace hearth::testing
