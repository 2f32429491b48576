#include "hearth/tensor.h"
#include "ops/call.h"

namespace hearth {

namespace {

const Tensor& wide(const Tensor& result, const char* what, const char* function) {
  check_defined(function, 0, what, result);
  HEARTH_CHECK(result.scalar_type() == kDouble, "the ", what, " given to ", function, " has dtype ",
               name_of(result.scalar_type()), " but the operation's result requires dtype Double");
  return result;
}

void refuse_complex(bool is_complex) {
  HEARTH_CHECK_AS(NotImplementedError, !is_complex,
                  "\"float_power\" not implemented for complex numbers");
}

Scalar wide(const Scalar& number) {
  refuse_complex(number.isComplex());
  return number.toDouble();
}
Tensor wide(const Tensor& tensor) {
  check_defined("float_power", 0, "self", tensor);
  refuse_complex(tensor.is_complex());
  return tensor.to(kDouble);
}

}  // namespace

#define HEARTH_FLOAT_POWER(Base, Exponent)                                           \
  Tensor float_power(const Base& self, const Exponent& exponent) {                   \
    return pow(wide(self), wide(exponent));                                          \
  }                                                                                  \
  Tensor& float_power_out(Tensor& out, const Base& self, const Exponent& exponent) { \
    wide(out, "output", "float_power");                                              \
    return pow_out(out, wide(self), wide(exponent));                                 \
  }
HEARTH_FLOAT_POWER(Tensor, Tensor)
HEARTH_FLOAT_POWER(Tensor, Scalar)
HEARTH_FLOAT_POWER(Scalar, Tensor)
#undef HEARTH_FLOAT_POWER

#define HEARTH_FLOAT_POWER_METHODS(Exponent)                         \
  Tensor Tensor::float_power(const Exponent& exponent) const {       \
    return hearth::float_power(*this, exponent);                     \
  }                                                                  \
  Tensor& Tensor::float_power_(const Exponent& exponent) const {     \
    return wide(*this, "base", "float_power_").pow_(wide(exponent)); \
  }                                                                  \
  Tensor& float_power_(Tensor& self, const Exponent& exponent) {     \
    return self.float_power_(exponent);                              \
  }
HEARTH_FLOAT_POWER_METHODS(Tensor)
HEARTH_FLOAT_POWER_METHODS(Scalar)
#undef HEARTH_FLOAT_POWER_METHODS

}  // namespace hearth
