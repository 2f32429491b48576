// Plain loops in place of cuFFT, which the plugin's kernels call.
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "kernels/cuda/fft_cufft.h"

namespace hearth::cuda {

namespace {

/// The transform of one line, in double precision.
std::vector<std::complex<double>> transformed(const std::vector<std::complex<double>>& line,
                                              bool forward) {
  const size_t n = line.size();
  std::vector<std::complex<double>> result(n);
  for (size_t k = 0; k < n; ++k)
    for (size_t j = 0; j < n; ++j)
      result[k] += line[j] * std::polar(1.0, (forward ? -2 : 2) * std::numbers::pi *
                                                 double(j * k % n) / double(n));
  return result;
}

template <class T>
void transform(const FftCall& call) {
  const size_t n = size_t(call.n), half = n / 2 + 1;
  const auto* const reals = static_cast<const T*>(call.in);
  const auto* const numbers = static_cast<const std::complex<T>*>(call.in);
  std::vector<std::complex<double>> line(n);
  for (size_t i = 0; i < size_t(call.count); ++i) {
    for (size_t j = 0; j < n; ++j)
      if (call.kind == FftKind::kRealToComplex)
        line[j] = double(reals[i * n + j]);
      else if (call.kind == FftKind::kComplex)
        line[j] = numbers[i * n + j];
      else
        line[j] = j < half ? std::complex<double>(numbers[i * half + j])
                           : std::conj(std::complex<double>(numbers[i * half + n - j]));
    const auto result = transformed(
        line, call.kind == FftKind::kComplex ? call.forward : call.kind == FftKind::kRealToComplex);
    const size_t count = call.kind == FftKind::kRealToComplex ? half : n;
    for (size_t k = 0; k < count; ++k)
      if (call.kind == FftKind::kComplexToReal)
        static_cast<T*>(call.out)[i * n + k] = T(result[k].real());
      else
        static_cast<std::complex<T>*>(call.out)[i * count + k] = std::complex<T>(result[k]);
  }
}

}  // namespace

void run_cufft(const FftCall& call, Ctx&) {
  call.is_double ? transform<double>(call) : transform<float>(call);
}

}  // namespace hearth::cuda
