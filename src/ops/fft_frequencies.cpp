// The frequencies of Fourier transforms and their order.
#include "ops/composed_out.h"
#include "ops/create.h"

namespace hearth {

namespace {

/// With `negative`, the second half of the n frequencies is negative.
void fill_frequencies(const Tensor& out, int64_t n, double d, bool negative) {
  Tensor numbers = out;
  arange_out(numbers, out.size(0));
  if (negative && n > 1) out.narrow(0, (n + 1) / 2, n / 2).sub_(n);
  out.mul_(1.0 / (double(n) * d));
}

Tensor frequencies(const char* op, int64_t n, double d, const TensorOptions& options,
                   bool negative) {
  HEARTH_CHECK(is_differentiable(options.dtype_or_default()), op,
               " requires a floating point or complex dtype");
  return filled({negative ? n : n / 2 + 1}, options,
                [&](const Tensor& t) { fill_frequencies(t, n, d, negative); });
}

/// Rolls each of the dimensions by (size + rounding) / 2.
Tensor shifted(const Tensor& self, OptionalIntArrayRef dim, int64_t rounding) {
  std::vector<int64_t> dims, shifts;
  if (dim)
    dims = dim->vec();
  else
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  for (const int64_t d : dims) shifts.push_back((self.size(d) + rounding) / 2);
  return self.roll(shifts, dims);
}

}  // namespace

namespace by_name {
Tensor fft_fftfreq(int64_t n, double d, const TensorOptions& options) {
  return frequencies("fftfreq", n, d, options, true);
}
Tensor fft_rfftfreq(int64_t n, double d, const TensorOptions& options) {
  return frequencies("rfftfreq", n, d, options, false);
}
}  // namespace by_name

HEARTH_DEFINE_WRITE_OUT(fft_fftfreq, (int64_t n, double d), fft_fftfreq(n, d, options_of(out)))
HEARTH_DEFINE_WRITE_OUT(fft_rfftfreq, (int64_t n, double d), fft_rfftfreq(n, d, options_of(out)))

Tensor fft_fftshift(const Tensor& self, OptionalIntArrayRef dim) {
  check_defined("fft_fftshift", 0, "self", self);
  return shifted(self, dim, 0);
}
Tensor fft_ifftshift(const Tensor& self, OptionalIntArrayRef dim) {
  check_defined("fft_ifftshift", 0, "self", self);
  return shifted(self, dim, 1);
}

}  // namespace hearth
