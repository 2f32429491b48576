// Operators that change sizes and strides in place, not elements.
#include "autograd/state.h"
#include "ops/define.h"

namespace hearth {

namespace {

/// Gives self the sizes and strides of one of its views.
Tensor& become(const Tensor& self, const Tensor& view) {
  autograd::check_inplace(self, false);
  autograd::become_view(self, view);
  return const_cast<Tensor&>(self);
}

}  // namespace

HEARTH_DEFINE_INPLACE_AS(t_, (), become(self, self.t()))
HEARTH_DEFINE_INPLACE_AS(transpose_, (int64_t dim0, int64_t dim1),
                         become(self, self.transpose(dim0, dim1)))
HEARTH_DEFINE_INPLACE_AS(swapaxes_, (int64_t axis0, int64_t axis1),
                         become(self, self.transpose(axis0, axis1)))
HEARTH_DEFINE_INPLACE_AS(swapdims_, (int64_t dim0, int64_t dim1),
                         become(self, self.transpose(dim0, dim1)))
HEARTH_DEFINE_INPLACE_AS(squeeze_, (), become(self, self.squeeze()))
HEARTH_DEFINE_INPLACE_AS(squeeze_, (int64_t dim), become(self, self.squeeze(dim)))
HEARTH_DEFINE_INPLACE_AS(squeeze_, (IntArrayRef dim), become(self, self.squeeze(dim)))
HEARTH_DEFINE_INPLACE_AS(unsqueeze_, (int64_t dim), become(self, self.unsqueeze(dim)))
HEARTH_DEFINE_INPLACE_AS(as_strided_,
                         (IntArrayRef size, IntArrayRef stride, std::optional<int64_t> offset),
                         become(self, self.as_strided(size, stride, offset)))

}  // namespace hearth
