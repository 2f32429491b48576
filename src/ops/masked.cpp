// masked_fill, masked_select and masked_scatter.
#include "autograd/state.h"
#include "functors/arithmetic.h"
#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/index.h"
#include "ops/pointwise_named.h"

namespace hearth {

namespace {

Tensor checked_mask(const Tensor& mask) {
  HEARTH_CHECK(mask.scalar_type() == kBool,
               "masked_fill_ only supports boolean masks, but got mask with dtype ",
               TypeMeta(mask.scalar_type()).name());
  return mask;
}

void check_fillable(ScalarType type) {
  HEARTH_CHECK_AS(NotImplementedError, has_kernels(type), "\"masked_fill\" not implemented for '",
                  name_of(type), "'");
}

Tensor masked_value(const Tensor& self, const Scalar& value) {
  check_fillable(self.scalar_type());
  return wrapped_number(value.stored_as(self.scalar_type()));
}
Tensor masked_value(const Tensor& self, const Tensor& value) {
  check_fillable(self.scalar_type());
  HEARTH_CHECK(value.dim() == 0,
               "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
               value.dim(), " dimension(s).");
  return as_element_of(self, value);
}

constexpr OpInfo kByTensor = with_node(fn::MaskedFill::info, "MaskedFillBackward1");

template <const OpInfo& op_info>
auto masked_fill_of(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return pointwise_as<op_info>(fn::MaskedFill{}, self, mask, value);
}

/// The in-place form. As in PyTorch, self may be expanded: then an element of the memory is filled
/// if the mask is true for one of the elements that share it.
template <const OpInfo& op_info>
Tensor& masked_fill_inplace(Tensor& self, const Tensor& mask, const Tensor& value) {
  Tensor distinct = self, any = mask;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.stride(d) == 0 && self.size(d) > 1) {
      any = any.expand(distinct.sizes()).any(d, /*keepdim=*/true);
      distinct = distinct.narrow(d, 0, 1);
    }
  if (distinct.is_same(self)) return masked_fill_of<op_info>(self, mask, value).inplace(self);
  warn_of_expanded(self, "masked_fill_", "tensor[mask] = scalar");
  masked_fill_of<op_info>(distinct, any, value).inplace(distinct);
  return self;
}

/// The functional form. Unlike other pointwise ops, it returns contiguous memory.
template <const OpInfo& op_info>
Tensor masked_fill_new(const Tensor& self, const Tensor& mask, const Tensor& value) {
  const Dims sizes = broadcast_sizes(self.sizes(), mask.sizes());
  const Tensor filled = self.sizes().equals(sizes) ? self : self.expand(sizes);
  return masked_fill_of<op_info>(filled.contiguous(), mask, value).call();
}

Tensor masked_select_of(const Tensor& self, const Tensor& mask) {
  HEARTH_CHECK(mask.scalar_type() == kBool, "masked_select: expected BoolTensor for mask");
  HEARTH_CHECK(mask.device() == self.device(),
               "expected self and mask to be on the same device, but got mask on ", mask.device(),
               " and self on ", self.device());
  const Dims sizes = broadcast_sizes(self.sizes(), mask.sizes());
  return index_by(self.expand(sizes).reshape({-1}), {mask.expand(sizes).reshape({-1})});
}

/// The first `count` elements of source, copied if self, which is written to, shares their memory.
Tensor first_of(const Tensor& source, const Tensor& self, int64_t count) {
  const Tensor first = source.reshape({-1}).narrow(0, 0, count);
  return first.is_alias_of(self) ? first.clone() : first;
}

/// Writes the first elements of source where mask is true.
Tensor& scatter_masked(Tensor& self, const Tensor& mask, const Tensor& source) {
  HEARTH_CHECK(mask.scalar_type() == kBool,
               "masked_scatter_ only supports boolean masks, but got mask with dtype ",
               name_of(mask.scalar_type()));
  HEARTH_CHECK(self.scalar_type() == source.scalar_type(),
               "masked_scatter: expected self and source to have same dtypes but got",
               name_of(self.scalar_type()), " and ", name_of(source.scalar_type()));
  autograd::check_inplace(self, source.requires_grad());  // even if the mask is false everywhere
  check_no_internal_overlap(impl_of(self));
  const Tensor expanded_mask = mask.expand(self.sizes());
  if (self.is_meta()) return self;
  const int64_t num_true = expanded_mask.sum().item<int64_t>();
  HEARTH_CHECK(source.numel() >= num_true, "Number of elements of source < number of ones in mask");
  if (num_true > 0) {
    if (self.dim() == 0)
      self.copy_(source.reshape({-1}).select(0, 0));
    else
      index_put_by(self, {expanded_mask}, first_of(source, self, num_true), false);
  }
  return self;
}

Tensor masked_scatter_of(const Tensor& self, const Tensor& mask, const Tensor& source) {
  Tensor result =
      self.expand(broadcast_sizes(self.sizes(), mask.sizes())).clone(MemoryFormat::Contiguous);
  return scatter_masked(result, mask, source);
}

}  // namespace

#define HEARTH_DEFINE_MASKED_FILL(T, info)                                                         \
  HEARTH_DEFINE_METHOD(Tensor, masked_fill, (const Tensor& mask, T value),                         \
                       masked_fill_new<info>(self, checked_mask(mask), masked_value(self, value))) \
  HEARTH_DEFINE_INPLACE_AS(                                                                        \
      masked_fill_, (const Tensor& mask, T value),                                                 \
      masked_fill_inplace<info>(self, checked_mask(mask), masked_value(self, value)))              \
  Tensor& masked_fill_out(Tensor& out, const Tensor& self, const Tensor& mask, T value) {          \
    check_defined("masked_fill", 0, "self", self);                                                 \
    return masked_fill_of<info>(self, checked_mask(mask), masked_value(self, value)).out(out);     \
  }
HEARTH_DEFINE_MASKED_FILL(const Scalar&, fn::MaskedFill::info)
HEARTH_DEFINE_MASKED_FILL(const Tensor&, kByTensor)
#undef HEARTH_DEFINE_MASKED_FILL
HEARTH_DEFINE_COMPOSED_OUT(masked_select, (const Tensor& mask), masked_select_of(self, mask))
HEARTH_DEFINE_METHOD(Tensor, masked_scatter, (const Tensor& mask, const Tensor& source),
                     masked_scatter_of(self, mask, source))
HEARTH_DEFINE_INPLACE_AS(masked_scatter_, (const Tensor& mask, const Tensor& source),
                         scatter_masked(self, mask, source))

}  // namespace hearth
