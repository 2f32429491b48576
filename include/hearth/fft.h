#pragma once

#include "hearth/operators.h"

// LibTorch's torch::fft: short names for the functions of hearth/ops/fft.inc, which explains them.
namespace hearth::fft {

#define HEARTH_FFT_LINE(name)                                                             \
  inline Tensor name(const Tensor& self, std::optional<int64_t> n = {}, int64_t dim = -1, \
                     std::optional<std::string_view> norm = {}) {                         \
    return fft_##name(self, n, dim, norm);                                                \
  }
#define HEARTH_FFT_DIMS(name, Dim, ...)                                                     \
  inline Tensor name(const Tensor& self, OptionalIntArrayRef s = {}, Dim dim = __VA_ARGS__, \
                     std::optional<std::string_view> norm = {}) {                           \
    return fft_##name(self, s, dim, norm);                                                  \
  }
HEARTH_FFT_LINE(fft)
HEARTH_FFT_LINE(ifft)
HEARTH_FFT_LINE(rfft)
HEARTH_FFT_LINE(irfft)
HEARTH_FFT_LINE(hfft)
HEARTH_FFT_LINE(ihfft)
HEARTH_FFT_DIMS(fft2, IntArrayRef, {-2, -1})
HEARTH_FFT_DIMS(ifft2, IntArrayRef, {-2, -1})
HEARTH_FFT_DIMS(rfft2, IntArrayRef, {-2, -1})
HEARTH_FFT_DIMS(irfft2, IntArrayRef, {-2, -1})
HEARTH_FFT_DIMS(hfft2, IntArrayRef, {-2, -1})
HEARTH_FFT_DIMS(ihfft2, IntArrayRef, {-2, -1})
HEARTH_FFT_DIMS(fftn, OptionalIntArrayRef, {})
HEARTH_FFT_DIMS(ifftn, OptionalIntArrayRef, {})
HEARTH_FFT_DIMS(rfftn, OptionalIntArrayRef, {})
HEARTH_FFT_DIMS(irfftn, OptionalIntArrayRef, {})
// LibTorch's default dimensions, which differ from those of fft_hfftn and fft_ihfftn.
HEARTH_FFT_DIMS(hfftn, IntArrayRef, {-2, -1})
HEARTH_FFT_DIMS(ihfftn, IntArrayRef, {-2, -1})
#undef HEARTH_FFT_LINE
#undef HEARTH_FFT_DIMS

inline Tensor fftfreq(int64_t n, double d, const TensorOptions& options = {}) {
  return by_name::fft_fftfreq(n, d, options);
}
inline Tensor fftfreq(int64_t n, const TensorOptions& options = {}) {
  return by_name::fft_fftfreq(n, 1.0, options);
}
inline Tensor rfftfreq(int64_t n, double d, const TensorOptions& options = {}) {
  return by_name::fft_rfftfreq(n, d, options);
}
inline Tensor rfftfreq(int64_t n, const TensorOptions& options = {}) {
  return by_name::fft_rfftfreq(n, 1.0, options);
}
inline Tensor fftshift(const Tensor& x, OptionalIntArrayRef dim = {}) {
  return fft_fftshift(x, dim);
}
inline Tensor ifftshift(const Tensor& x, OptionalIntArrayRef dim = {}) {
  return fft_ifftshift(x, dim);
}

}  // namespace hearth::fft
