// Membership in a set of elements.
#include "hearth/operators.h"
#include "ops/composed_out.h"

namespace hearth {

namespace {

void check_member_type(const Tensor& tensor) {
  const ScalarType type = tensor.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, type != kBool && !is_complex(type),
                  "Unsupported input type encountered for isin(): ", name_of(type));
}

/// The members of the set as a vector of a dtype, without NaN: NaN equals nothing, and a search
/// needs ordered numbers.
Tensor comparable_members(const Tensor& set, ScalarType type) {
  const Tensor flat = set.detach().to(type).reshape({-1});
  const bool may_have_nan = is_floating_point(type) && !flat.is_meta();
  return may_have_nan ? flat.masked_select(flat.isnan().logical_not()) : flat;
}

/// Whether each element is in the set, or is not if `invert`: sorts the set and searches there.
Tensor is_member(const Tensor& elements, const Tensor& set, bool invert) {
  check_member_type(elements);
  check_member_type(set);
  const ScalarType type = result_type(elements, set);
  const Tensor wanted = elements.detach().to(type);
  const Tensor searched = comparable_members(set, type);
  if (searched.numel() == 0)
    return full(elements.sizes(), invert, elements.options().dtype(kBool).requires_grad(false));
  const Tensor sorted = std::get<0>(searched.sort());
  const Tensor place = searchsorted(sorted, wanted).clamp_max(sorted.numel() - 1);
  const Tensor found = sorted.index_select(0, place.reshape({-1})).view(wanted.sizes());
  return invert ? found.ne(wanted) : found.eq(wanted);
}

}  // namespace

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  check_defined("isin", 0, "elements", elements);
  check_defined("isin", 1, "test_elements", test_elements);
  return is_member(elements, test_elements, invert);
}
Tensor isin(const Tensor& elements, const Scalar& test_element, bool, bool invert) {
  check_defined("isin", 0, "elements", elements);
  return invert ? elements.ne(test_element) : elements.eq(test_element);
}
Tensor isin(const Scalar& element, const Tensor& test_elements, bool, bool invert) {
  check_defined("isin", 1, "test_elements", test_elements);
  return is_member(scalar_tensor(element, TensorOptions(test_elements.device())), test_elements,
                   invert);
}

#define HEARTH_DEFINE_ISIN_OUT(Elements, Set)                                            \
  HEARTH_DEFINE_WRITE_OUT(                                                               \
      isin, (const Elements& elements, const Set& set, bool assume_unique, bool invert), \
      isin(elements, set, assume_unique, invert))
HEARTH_DEFINE_ISIN_OUT(Tensor, Tensor)
HEARTH_DEFINE_ISIN_OUT(Tensor, Scalar)
HEARTH_DEFINE_ISIN_OUT(Scalar, Tensor)
#undef HEARTH_DEFINE_ISIN_OUT

}  // namespace hearth
