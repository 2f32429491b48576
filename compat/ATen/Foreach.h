#pragma once

#include <optional>
#include <vector>

#include "c10/util/Exception.h"
#include "hearth/hearth.h"

// LibTorch's operators on lists of tensors. On the CPU, LibTorch also calls the operator for each
// tensor.
namespace hearth {

namespace detail {
inline void check_lists(TensorList a) {
  TORCH_CHECK(!a.empty(), "Tensor list must have at least one tensor.");
}
inline void check_lists(TensorList a, TensorList b) {
  check_lists(a);
  TORCH_CHECK(a.size() == b.size(), "Tensor lists must have the same number of tensors, got ",
              a.size(), " and ", b.size());
}
inline void check_lists(TensorList a, ArrayRef<Scalar> b) {
  check_lists(a);
  TORCH_CHECK(a.size() == b.size(),
              "Tensor list must have same number of elements as scalar list.");
}
template <class... Lists>
inline void check_lists(TensorList a, TensorList b, TensorList c, Lists... lists) {
  check_lists(a, b);
  check_lists(a, c);
  (check_lists(a, lists), ...);
}
template <class F>
std::vector<Tensor> for_each(TensorList list, F f) {
  std::vector<Tensor> results;
  results.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) results.push_back(f(i));
  return results;
}
}  // namespace detail

// The form that returns new tensors, and the one in place. `call` uses the index i.
#define HEARTH_FOREACH(name, method, lists, parameters, ...)                              \
  inline std::vector<Tensor> _foreach_##name parameters {                                 \
    detail::check_lists lists;                                                            \
    return detail::for_each(self, [&](size_t i) { return self[i].method(__VA_ARGS__); }); \
  }                                                                                       \
  inline void _foreach_##name##_ parameters {                                             \
    detail::check_lists lists;                                                            \
    for (size_t i = 0; i < self.size(); ++i) Tensor(self[i]).method##_(__VA_ARGS__);      \
  }
#define HEARTH_FOREACH_UNARY(name) HEARTH_FOREACH(name, name, (self), (TensorList self))
HEARTH_FOREACH_UNARY(abs)
HEARTH_FOREACH_UNARY(acos)
HEARTH_FOREACH_UNARY(asin)
HEARTH_FOREACH_UNARY(atan)
HEARTH_FOREACH_UNARY(ceil)
HEARTH_FOREACH_UNARY(cos)
HEARTH_FOREACH_UNARY(cosh)
HEARTH_FOREACH_UNARY(erf)
HEARTH_FOREACH_UNARY(erfc)
HEARTH_FOREACH_UNARY(exp)
HEARTH_FOREACH_UNARY(expm1)
HEARTH_FOREACH_UNARY(floor)
HEARTH_FOREACH_UNARY(frac)
HEARTH_FOREACH_UNARY(lgamma)
HEARTH_FOREACH_UNARY(log)
HEARTH_FOREACH_UNARY(log10)
HEARTH_FOREACH_UNARY(log1p)
HEARTH_FOREACH_UNARY(log2)
HEARTH_FOREACH_UNARY(neg)
HEARTH_FOREACH_UNARY(reciprocal)
HEARTH_FOREACH_UNARY(round)
HEARTH_FOREACH_UNARY(rsqrt)
HEARTH_FOREACH_UNARY(sigmoid)
HEARTH_FOREACH_UNARY(sign)
HEARTH_FOREACH_UNARY(sin)
HEARTH_FOREACH_UNARY(sinh)
HEARTH_FOREACH_UNARY(sqrt)
HEARTH_FOREACH_UNARY(tan)
HEARTH_FOREACH_UNARY(tanh)
HEARTH_FOREACH_UNARY(trunc)
#undef HEARTH_FOREACH_UNARY

#define HEARTH_FOREACH_BINARY(name, method)                                                  \
  HEARTH_FOREACH(name, method, (self), (TensorList self, const Scalar& scalar), scalar)      \
  HEARTH_FOREACH(name, method, (self, other), (TensorList self, TensorList other), other[i]) \
  HEARTH_FOREACH(name, method, (self, scalars), (TensorList self, ArrayRef<Scalar> scalars), \
                 scalars[i])
#define HEARTH_FOREACH_SUM(name)                                                                \
  HEARTH_FOREACH(name, name, (self), (TensorList self, const Scalar& scalar), scalar)           \
  HEARTH_FOREACH(name, name, (self, other),                                                     \
                 (TensorList self, TensorList other, const Scalar& alpha = 1), other[i], alpha) \
  HEARTH_FOREACH(name, name, (self, scalars), (TensorList self, ArrayRef<Scalar> scalars),      \
                 scalars[i])
HEARTH_FOREACH_SUM(add)
HEARTH_FOREACH_SUM(sub)
HEARTH_FOREACH_BINARY(mul, mul)
HEARTH_FOREACH_BINARY(div, div)
HEARTH_FOREACH_BINARY(clamp_max, clamp_max)
HEARTH_FOREACH_BINARY(clamp_min, clamp_min)
HEARTH_FOREACH_BINARY(maximum, clamp_min)
HEARTH_FOREACH_BINARY(minimum, clamp_max)
HEARTH_FOREACH_BINARY(pow, pow)
HEARTH_FOREACH(add, add, (self), (TensorList self, const Tensor& other, const Scalar& alpha = 1),
               other, alpha)
HEARTH_FOREACH(mul, mul, (self), (TensorList self, const Tensor& other), other)
HEARTH_FOREACH(div, div, (self), (TensorList self, const Tensor& other), other)
#undef HEARTH_FOREACH_SUM
#undef HEARTH_FOREACH_BINARY

#define HEARTH_FOREACH_TERNARY(name)                                                       \
  HEARTH_FOREACH(                                                                          \
      name, name, (self, tensor1, tensor2),                                                \
      (TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value = 1),  \
      tensor1[i], tensor2[i], value)                                                       \
  HEARTH_FOREACH(                                                                          \
      name, name, (self, tensor1, tensor2, scalars),                                       \
      (TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars), \
      tensor1[i], tensor2[i], scalars[i])
HEARTH_FOREACH_TERNARY(addcdiv)
HEARTH_FOREACH_TERNARY(addcmul)
#undef HEARTH_FOREACH_TERNARY
HEARTH_FOREACH(lerp, lerp, (self, tensors1, weights),
               (TensorList self, TensorList tensors1, TensorList weights), tensors1[i], weights[i])
#undef HEARTH_FOREACH

inline std::vector<Tensor> _foreach_lerp(TensorList self, TensorList tensors1,
                                         const Scalar& weight) {
  detail::check_lists(self, tensors1);
  return detail::for_each(self, [&](size_t i) { return self[i].lerp(tensors1[i], weight); });
}
inline std::vector<Tensor> _foreach_norm(TensorList self, const Scalar& ord = 2,
                                         std::optional<ScalarType> dtype = {}) {
  detail::check_lists(self);
  return detail::for_each(
      self, [&](size_t i) { return linalg_vector_norm(self[i], ord, {}, false, dtype); });
}
inline std::vector<Tensor> _foreach_max(TensorList self) {
  detail::check_lists(self);
  return detail::for_each(self, [&](size_t i) { return self[i].max(); });
}
inline std::vector<Tensor> _foreach_pow(const Scalar& self, TensorList exponent) {
  detail::check_lists(exponent);
  return detail::for_each(exponent, [&](size_t i) { return pow(self, exponent[i]); });
}
inline void _foreach_zero_(TensorList self) {
  detail::check_lists(self);
  for (const Tensor& tensor : self) Tensor(tensor).zero_();
}
inline void _foreach_copy_(TensorList self, TensorList src, bool non_blocking = false) {
  detail::check_lists(self, src);
  for (size_t i = 0; i < self.size(); ++i) Tensor(self[i]).copy_(src[i], non_blocking);
}

}  // namespace hearth
