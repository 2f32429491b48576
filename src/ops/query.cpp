// Queries of tensors (is_nonzero, is_same_size), adjoint, H, type_as and meta.
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

Tensor adjoint_of(const Tensor& self) {
  HEARTH_CHECK(self.dim() != 1,
               "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D "
               "tensor.");
  return self.dim() == 0 ? self.conj() : self.mT().conj();
}

}  // namespace

HEARTH_DEFINE_METHOD(bool, is_nonzero, (), nonzero_of(self))
HEARTH_DEFINE_METHOD(bool, is_same_size, (const Tensor& other), same_size(self, other))

HEARTH_DEFINE_METHOD(Tensor, adjoint, (), adjoint_of(self))

Tensor Tensor::matrix_H() const {
  HEARTH_CHECK(dim() == 2 || dim() == 0,
               "tensor.H is only supported on matrices (2-D tensors). Got ", dim(), "-D tensor.",
               dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  return adjoint();
}
Tensor Tensor::type_as(const Tensor& other) const { return to(other.options()); }
Tensor Tensor::meta() const { return to(Device(DeviceType::Meta), scalar_type()); }

}  // namespace hearth
