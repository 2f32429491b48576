#include "ops/promote.h"

#include <cstring>

namespace hearth {

namespace {

/// promote_types(a, b) or, if one is Undefined, the other.
ScalarType promote_known(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;
  return promote_types(a, b);
}

/// The dtype of two groups of inputs (see result_type_of). The group of lower priority counts only
/// if its dtype is of a higher kind: bool < int < float < complex.
ScalarType combine(ScalarType higher, ScalarType lower) {
  if (is_complex(higher)) return higher;
  if (is_floating_point(higher)) return is_complex(lower) ? to_complex(higher) : higher;
  if (higher == kBool || is_floating_point(lower) || is_complex(lower))
    return promote_known(higher, lower);
  return higher != ScalarType::Undefined ? higher : lower;
}

/// The dtype that a C++ number counts as.
ScalarType number_type(ScalarType dtype) {
  if (is_complex(dtype)) return to_complex(get_default_dtype());
  return is_floating_point(dtype) ? get_default_dtype_as_scalartype() : dtype;
}

}  // namespace

ScalarType result_type_of(Inputs inputs) {
  ScalarType dimensioned = ScalarType::Undefined, zero_dim = ScalarType::Undefined,
             number = ScalarType::Undefined;
  for (int i = 0; i < inputs.count; ++i) {
    if (!inputs[i].defined()) continue;
    const TensorImpl& impl = impl_of(inputs[i]);
    if (impl.has(kWrappedNumber))
      number = promote_known(number, number_type(impl.dtype));
    else if (impl.dim == 0)
      zero_dim = promote_known(zero_dim, impl.dtype);
    else
      dimensioned = promote_known(dimensioned, impl.dtype);
  }
  return combine(dimensioned, combine(zero_dim, number));
}

ScalarType compute_type(const OpInfo& info, Inputs inputs) {
  ScalarType type = ScalarType::Undefined;
  bool same = true;
  for (int i = 0; i < inputs.count && same; ++i) {
    const ScalarType mine = impl_of(inputs[i]).dtype;
    same = (i == 0 || mine == type) && !impl_of(inputs[i]).has(kWrappedNumber);
    type = mine;
  }
  if (!same) type = result_type_of(inputs);
  if (info.promote == Promote::kFloat && is_integral(type, true)) type = get_default_dtype();
  return type;
}

namespace {

/// Whether an op accepts a dtype without kernels.
bool accepts_stored(const OpInfo& info, ScalarType dtype) {
  if (info.effect == Effect::kView) return info.dtypes == dtypes::kAll;
  return info.accepts_stored && (info.dtypes | info.cpu_dtypes) >> int(kernel_type(dtype)) & 1u;
}

}  // namespace

void check_dtype(const OpInfo& info, ScalarType dtype) {
  if (unsigned(dtype) < kScalarTypeSlots && (info.dtypes | info.cpu_dtypes) >> unsigned(dtype) & 1u)
      [[likely]]
    return;
  if (is_stored_only(dtype) && accepts_stored(info, dtype)) return;
  detail::fail<NotImplementedError>("\"", info.name, "\" not implemented for '", name_of(dtype),
                                    "'");
}

void check_castable(ScalarType from, ScalarType to) {
  HEARTH_CHECK(can_cast(from, to), "result type ", name_of(from),
               " can't be cast to the desired output type ", name_of(to));
}

Tensor wrapped_number(const Scalar& value) {
  Tensor tensor = allocate_tensor({}, value.type(), Device(DeviceType::CPU));
  impl_of(tensor).flags |= kWrappedNumber;
  void* data = impl_of(tensor).data();
  const auto store = [data](auto number) { std::memcpy(data, &number, sizeof number); };
  switch (value.type()) {
    case kBool: store(value.toBool()); break;
    case kLong: store(value.toLong()); break;
    case kUInt64: store(value.toUInt64()); break;
    case kDouble: store(value.toDouble()); break;
    default: store(value.toComplexDouble());
  }
  return tensor;
}

Dims broadcast_sizes(IntArrayRef a, IntArrayRef b) {
  const IntArrayRef longer = a.size() >= b.size() ? a : b;
  Dims sizes(longer);
  for (size_t k = 1; k <= sizes.size(); ++k) {
    const int64_t x = k <= a.size() ? a[a.size() - k] : 1;
    const int64_t y = k <= b.size() ? b[b.size() - k] : 1;
    const size_t d = sizes.size() - k;
    HEARTH_CHECK(x == y || x == 1 || y == 1, "The size of tensor a (", x,
                 ") must match the size of tensor b (", y, ") at non-singleton dimension ", d,
                 " (sizes ", a, " and ", b, ")");
    sizes[d] = x == 1 ? y : x;
  }
  return sizes;
}

}  // namespace hearth
