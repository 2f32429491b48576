// Queries of tensors, and the operators of complex numbers applied to real tensors.
#include "ops/define.h"

namespace hearth {

namespace {

bool nonzero_of(const Tensor& self) {
  HEARTH_CHECK(self.numel() > 0, "Boolean value of Tensor with no values is ambiguous");
  HEARTH_CHECK(self.numel() < 2, "Boolean value of Tensor with more than one value is ambiguous");
  return self.item().to<bool>();
}

bool same_size(const Tensor& self, const Tensor& other) {
  check_defined("is_same_size", 1, "other", other);
  return self.sizes().equals(other.sizes());
}

/// Returns the tensor; throws if it is complex, as complex operators are not implemented.
const Tensor& real_only(const Tensor& self, const char* op) {
  HEARTH_CHECK_AS(NotImplementedError, !self.is_complex(), "\"", op, "\" not implemented for '",
                  name_of(self.scalar_type()), "'");
  return self;
}

Tensor adjoint_of(const Tensor& self) {
  const Tensor& matrices = real_only(self, "adjoint");
  HEARTH_CHECK(matrices.dim() != 1,
               "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D "
               "tensor.");
  return matrices.dim() == 0 ? matrices : matrices.mT();
}

}  // namespace

HEARTH_DEFINE_METHOD(bool, is_nonzero, (), nonzero_of(self))
HEARTH_DEFINE_METHOD(bool, is_same_size, (const Tensor& other), same_size(self, other))

Tensor real(const Tensor& self) { return real_only(self, "real"); }
Tensor imag(const Tensor& self) {
  HEARTH_CHECK_AS(TypeError, real_only(self, "imag").is_complex(),
                  "imag is not implemented for tensors with non-complex dtypes.");
  return self;
}
HEARTH_DEFINE_METHOD(Tensor, conj, (), real_only(self, "conj"))
HEARTH_DEFINE_METHOD(Tensor, conj_physical, (), real_only(self, "conj_physical"))
HEARTH_DEFINE_METHOD(Tensor, resolve_conj, (), self)
HEARTH_DEFINE_METHOD(Tensor, resolve_neg, (), self)
HEARTH_DEFINE_METHOD(Tensor, adjoint, (), adjoint_of(self))
HEARTH_DEFINE_METHOD(Tensor, isreal, (), ones_like(real_only(self, "isreal"), kBool))

Tensor Tensor::matrix_H() const {
  HEARTH_CHECK(dim() == 2 || dim() == 0,
               "tensor.H is only supported on matrices (2-D tensors). Got ", dim(), "-D tensor.",
               dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  return adjoint();
}
Tensor Tensor::type_as(const Tensor& other) const { return to(other.options()); }
Tensor Tensor::meta() const { return to(Device(DeviceType::Meta), scalar_type()); }

}  // namespace hearth
