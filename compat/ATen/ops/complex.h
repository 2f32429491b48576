#pragma once

#include "c10/namespaces.h"
#include "c10/util/complex.h"
#include "hearth/tensor.h"

// In LibTorch at::complex is an operator and c10::complex a number; Hearth has both in one
// namespace, where the operator is called make_complex.
namespace at {

/// The complex numbers real + imag * i.
inline Tensor complex(const Tensor& real, const Tensor& imag) {
  return hearth::make_complex(real, imag);
}
inline Tensor& complex_out(Tensor& out, const Tensor& real, const Tensor& imag) {
  return hearth::make_complex_out(out, real, imag);
}

}  // namespace at

namespace torch {
using at::complex;
using at::complex_out;
}  // namespace torch
