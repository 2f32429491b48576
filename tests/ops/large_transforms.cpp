// Large Fourier transforms.
#include "tests/ops/fft_reference.h"
#include "tests/ops/large.h"

namespace hearth::testing {
namespace {

constexpr int64_t kLines = 150, kLength = 120;

/// rfft of many lines, as real and imaginary parts, and irfft of the result.
LargeCase real_lines(ScalarType dtype) {
  const Large x = large({kLines, kLength}, 51);
  Signal signal{x.sizes, {x.values.begin(), x.values.end()}};
  const Signal y = transformed({Sides::kFromReal, true}, signal);
  Array parts{{kLines, kLength / 2 + 1, 2}, {}}, same{x.sizes, x.values};
  for (const std::complex<double>& value : y.values) {
    parts.values.push_back(value.real());
    parts.values.push_back(value.imag());
  }
  const Tensor in = x.tensor(dtype);
  const auto call = [in] {
    const Tensor spectrum = fft_rfft(in);
    return Tensors{view_as_real(spectrum), fft_irfft(spectrum)};
  };
  return {call, {parts, same}};
}

const RegisterLarge registered_large_transforms{{"fourier", {"Fft"}, real_lines, 64}};

}  // namespace
}  // namespace hearth::testing
