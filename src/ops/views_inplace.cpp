// Operators that change a tensor's sizes and strides in place, not its elements.
#include "autograd/state.h"
#include "ops/define.h"

namespace hearth {

namespace {

/// Makes self what one of the view operators says it would look like.
Tensor& become(const Tensor& self, const Tensor& view) {
  autograd::check_inplace(self, false);
  autograd::become_view(self, view);
  return const_cast<Tensor&>(self);
}

}  // namespace

#define HEARTH_DEFINE_VIEW_INPLACE(name, params, ...)                                      \
  Tensor& name(Tensor& self HEARTH_REST params) { return become(self, self.__VA_ARGS__); } \
  Tensor& Tensor::name(HEARTH_LIST params) const { return become(*this, this->__VA_ARGS__); }

HEARTH_DEFINE_VIEW_INPLACE(t_, (), t())
HEARTH_DEFINE_VIEW_INPLACE(transpose_, (int64_t dim0, int64_t dim1), transpose(dim0, dim1))
HEARTH_DEFINE_VIEW_INPLACE(swapaxes_, (int64_t axis0, int64_t axis1), transpose(axis0, axis1))
HEARTH_DEFINE_VIEW_INPLACE(swapdims_, (int64_t dim0, int64_t dim1), transpose(dim0, dim1))
HEARTH_DEFINE_VIEW_INPLACE(squeeze_, (), squeeze())
HEARTH_DEFINE_VIEW_INPLACE(squeeze_, (int64_t dim), squeeze(dim))
HEARTH_DEFINE_VIEW_INPLACE(squeeze_, (IntArrayRef dim), squeeze(dim))
HEARTH_DEFINE_VIEW_INPLACE(unsqueeze_, (int64_t dim), unsqueeze(dim))
HEARTH_DEFINE_VIEW_INPLACE(as_strided_,
                           (IntArrayRef size, IntArrayRef stride, std::optional<int64_t> offset),
                           as_strided(size, stride, offset))

}  // namespace hearth
