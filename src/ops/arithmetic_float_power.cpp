#include "hearth/tensor.h"
#include "ops/call.h"

namespace hearth {

namespace {

/// Returns `result`, whose role in the call is `what`, after checking its dtype.
const Tensor& checked(const Tensor& result, ScalarType type, const char* what,
                      const char* function) {
  check_defined(function, 0, what, result);
  HEARTH_CHECK(result.scalar_type() == type, "the ", what, " given to ", function, " has dtype ",
               name_of(result.scalar_type()), " but the operation's result requires dtype ",
               name_of(type));
  return result;
}

/// The dtype in which an operand takes part: float64 or complex128.
ScalarType wide_type_of(const Scalar& number, int, const char*) {
  return number.isComplex() ? kComplexDouble : kDouble;
}
ScalarType wide_type_of(const Tensor& tensor, int index, const char* argument) {
  check_defined("float_power", index, argument, tensor);
  return tensor.is_complex() ? kComplexDouble : kDouble;
}
template <class Base, class Exponent>
ScalarType wide_type_of(const Base& base, const Exponent& exponent) {
  return promote_types(wide_type_of(base, 0, "self"), wide_type_of(exponent, 1, "exponent"));
}

Scalar wide(const Scalar& number, ScalarType type) { return number.stored_as(type); }
Tensor wide(const Tensor& tensor, ScalarType type) { return tensor.to(type); }

}  // namespace

#define HEARTH_FLOAT_POWER(Base, Exponent)                                           \
  Tensor float_power(const Base& self, const Exponent& exponent) {                   \
    const ScalarType type = wide_type_of(self, exponent);                            \
    return pow(wide(self, type), wide(exponent, type));                              \
  }                                                                                  \
  Tensor& float_power_out(Tensor& out, const Base& self, const Exponent& exponent) { \
    const ScalarType type = wide_type_of(self, exponent);                            \
    checked(out, type, "output", "float_power");                                     \
    return pow_out(out, wide(self, type), wide(exponent, type));                     \
  }
HEARTH_FLOAT_POWER(Tensor, Tensor)
HEARTH_FLOAT_POWER(Tensor, Scalar)
HEARTH_FLOAT_POWER(Scalar, Tensor)
#undef HEARTH_FLOAT_POWER

#define HEARTH_FLOAT_POWER_METHODS(Exponent)                                        \
  Tensor Tensor::float_power(const Exponent& exponent) const {                      \
    return hearth::float_power(*this, exponent);                                    \
  }                                                                                 \
  Tensor& Tensor::float_power_(const Exponent& exponent) const {                    \
    const ScalarType type = wide_type_of(*this, exponent);                          \
    return checked(*this, type, "base", "float_power_").pow_(wide(exponent, type)); \
  }                                                                                 \
  Tensor& float_power_(Tensor& self, const Exponent& exponent) {                    \
    return self.float_power_(exponent);                                             \
  }
HEARTH_FLOAT_POWER_METHODS(Tensor)
HEARTH_FLOAT_POWER_METHODS(Scalar)
#undef HEARTH_FLOAT_POWER_METHODS

}  // namespace hearth
