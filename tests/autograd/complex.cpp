// Gradients of complex tensors are not implemented: every attempt throws.
#include <complex>

#include "tests/autograd/support.h"

namespace hearth::testing {
namespace {

constexpr const char* kNotImplemented = "gradients of complex tensors are not implemented";

Tensor complex_vec() {
  std::complex<float> values[] = {{1, 2}, {3, -4}};
  return from_blob(values, {2}, TensorOptions(kComplexFloat)).clone();
}

TEST(ComplexGradients, ThrowWhenHistoryBegins) {
  const Tensor z = complex_vec().requires_grad_(), w = complex_vec();
  EXPECT_ERROR(z * z, kNotImplemented);
  EXPECT_ERROR(z + w, kNotImplemented);
  EXPECT_ERROR(w * z, kNotImplemented);
  EXPECT_ERROR(z.sum(), kNotImplemented);
  EXPECT_ERROR(z.view({1, 2}), kNotImplemented);
  EXPECT_ERROR(z.clone(), kNotImplemented);
  EXPECT_ERROR(z.reshape({2, 1}).mm(w.view({1, 2})), kNotImplemented);
  EXPECT_ERROR(z.to(kComplexDouble), kNotImplemented);
}

TEST(ComplexGradients, ThrowForRealInputsOfComplexOps) {
  const Tensor x = leaf({1, 2}), w = complex_vec();
  EXPECT_ERROR(x * w, kNotImplemented);
  EXPECT_ERROR(x.to(kComplexFloat), kNotImplemented);
  EXPECT_ERROR(w.mul_(x), kNotImplemented);
  EXPECT_ERROR(w.copy_(x), kNotImplemented);
  EXPECT_ERROR(w[0].copy_(x[0]), kNotImplemented);
  const auto elements = [](const Tensor& t) {
    const auto* data = static_cast<const std::complex<float>*>(t.data_ptr());
    return std::vector<std::complex<float>>(data, data + t.numel());
  };
  EXPECT_EQ(elements(w), elements(complex_vec())) << "it throws before writing";
}

TEST(ComplexGradients, AreNotNeededForDetachedTensors) {
  const Tensor z = complex_vec().requires_grad_();
  const auto first_element = [](const Tensor& t) {
    return *static_cast<const std::complex<float>*>(t.data_ptr());
  };
  EXPECT_EQ(first_element(z.detach() * z.detach()), std::complex<float>(-3, 4));
  const NoGradGuard off;
  EXPECT_EQ(first_element(z * z), std::complex<float>(-3, 4));
  EXPECT_TRUE((z == z).all().item<bool>());
}

}  // namespace
}  // namespace hearth::testing
