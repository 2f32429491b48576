#include "core/op.h"
#include "hearth/tensor.h"

namespace hearth {

namespace {

const Tensor& wide(const Tensor& result, const char* what, const char* function) {
  HEARTH_CHECK(result.scalar_type() == kDouble, "the ", what, " given to ", function, " has dtype ",
               name_of(result.scalar_type()), " but the operation's result requires dtype Double");
  return result;
}

Scalar wide(const Scalar& number) { return number.toDouble(); }
Tensor wide(const Tensor& tensor) { return tensor.to(kDouble); }

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
