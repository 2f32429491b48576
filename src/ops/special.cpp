// The names that Python's torch.special has for functions of other families.
#include "hearth/tensor.h"

namespace hearth {

#define HEARTH_DEFINE_SPECIAL(name, function)                          \
  Tensor special_##name(const Tensor& self) { return function(self); } \
  Tensor& special_##name##_out(Tensor& out, const Tensor& self) {      \
    return function##_out(out, self);                                  \
  }
HEARTH_DEFINE_SPECIAL(erf, erf)
HEARTH_DEFINE_SPECIAL(erfc, erfc)
HEARTH_DEFINE_SPECIAL(erfinv, erfinv)
HEARTH_DEFINE_SPECIAL(exp2, exp2)
HEARTH_DEFINE_SPECIAL(expm1, expm1)
HEARTH_DEFINE_SPECIAL(expit, sigmoid)
HEARTH_DEFINE_SPECIAL(log1p, log1p)
#undef HEARTH_DEFINE_SPECIAL

Tensor special_round(const Tensor& self, int64_t decimals) { return round(self, decimals); }
Tensor& special_round_out(Tensor& out, const Tensor& self, int64_t decimals) {
  return round_out(out, self, decimals);
}

#define HEARTH_DEFINE_XLOGY(Self, Other)                                                    \
  Tensor special_xlogy(const Self& self, const Other& other) { return xlogy(self, other); } \
  Tensor& special_xlogy_out(Tensor& out, const Self& self, const Other& other) {            \
    return xlogy_out(out, self, other);                                                     \
  }
HEARTH_DEFINE_XLOGY(Tensor, Tensor)
HEARTH_DEFINE_XLOGY(Tensor, Scalar)
HEARTH_DEFINE_XLOGY(Scalar, Tensor)
#undef HEARTH_DEFINE_XLOGY

Tensor special_logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return logsumexp(self, dim, keepdim);
}
Tensor& special_logsumexp_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim) {
  return logsumexp_out(out, self, dim, keepdim);
}
Tensor special_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return softmax(self, dim, dtype);
}
Tensor special_log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return log_softmax(self, dim, dtype);
}

}  // namespace hearth
