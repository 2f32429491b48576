// Aliases: the names of torch.special for functions of other families.
#include "hearth/tensor.h"

namespace hearth {

#define HEARTH_SPECIAL(name, function)                                 \
  Tensor special_##name(const Tensor& self) { return function(self); } \
  Tensor& special_##name##_out(Tensor& out, const Tensor& self) {      \
    return function##_out(out, self);                                  \
  }
HEARTH_SPECIAL(erf, erf)
HEARTH_SPECIAL(erfc, erfc)
HEARTH_SPECIAL(erfinv, erfinv)
HEARTH_SPECIAL(exp2, exp2)
HEARTH_SPECIAL(expm1, expm1)
HEARTH_SPECIAL(expit, sigmoid)
HEARTH_SPECIAL(log1p, log1p)
#undef HEARTH_SPECIAL

Tensor special_round(const Tensor& self, int64_t decimals) { return round(self, decimals); }
Tensor& special_round_out(Tensor& out, const Tensor& self, int64_t decimals) {
  return round_out(out, self, decimals);
}

#define HEARTH_SPECIAL_XLOGY(Self, Other)                                                   \
  Tensor special_xlogy(const Self& self, const Other& other) { return xlogy(self, other); } \
  Tensor& special_xlogy_out(Tensor& out, const Self& self, const Other& other) {            \
    return xlogy_out(out, self, other);                                                     \
  }
HEARTH_SPECIAL_XLOGY(Tensor, Tensor)
HEARTH_SPECIAL_XLOGY(Tensor, Scalar)
HEARTH_SPECIAL_XLOGY(Scalar, Tensor)
#undef HEARTH_SPECIAL_XLOGY

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
