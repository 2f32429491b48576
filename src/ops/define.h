#pragma once

#include "ops/call.h"

namespace hearth {

/// An optional argument, undefined if it is not given.
inline const Tensor& or_undefined(const std::optional<Tensor>& tensor) {
  static const Tensor none;
  return tensor ? *tensor : none;
}

/// An optional argument; the default generator, which an undefined one stands for, if not given.
inline const Generator& or_default(const std::optional<Generator>& generator) {
  static const Generator none;
  return generator ? *generator : none;
}

}  // namespace hearth

// The definitions that go with the declarations of hearth/ops/*.inc. `params` is the parameter list
// in parentheses without `self`; the last argument is an invocation (pointwise(...) or
// invoke<Op>(...)) or, for HEARTH_DEFINE_METHOD, an expression, in which `self` is the tensor.

#define HEARTH_LIST(...) __VA_ARGS__
#define HEARTH_REST(...) __VA_OPT__(, ) __VA_ARGS__

// An undefined self is refused first: what follows may ask for its sizes.

#define HEARTH_DEFINE_METHOD_ONLY(R, name, params, ...) \
  R Tensor::name(HEARTH_LIST params) const {            \
    const Tensor& self = *this;                         \
    ::hearth::check_defined(#name, 0, "self", self);    \
    return __VA_ARGS__;                                 \
  }

#define HEARTH_DEFINE_METHOD(R, name, params, ...)   \
  R name(const Tensor& self HEARTH_REST params) {    \
    ::hearth::check_defined(#name, 0, "self", self); \
    return __VA_ARGS__;                              \
  }                                                  \
  HEARTH_DEFINE_METHOD_ONLY(R, name, params, __VA_ARGS__)

#define HEARTH_DEFINE_INPLACE(name, params, ...)     \
  Tensor& name(Tensor& self HEARTH_REST params) {    \
    ::hearth::check_defined(#name, 0, "self", self); \
    return (__VA_ARGS__).inplace(self);              \
  }                                                  \
  Tensor& Tensor::name(HEARTH_LIST params) const {   \
    const Tensor& self = *this;                      \
    ::hearth::check_defined(#name, 0, "self", self); \
    return (__VA_ARGS__).inplace(self);              \
  }

#define HEARTH_DEFINE_OUT(name, params, ...)                               \
  HEARTH_DEFINE_METHOD(Tensor, name, params, (__VA_ARGS__).call())         \
  Tensor& name##_out(Tensor& out, const Tensor& self HEARTH_REST params) { \
    ::hearth::check_defined(#name, 0, "self", self);                       \
    return (__VA_ARGS__).out(out);                                         \
  }

#define HEARTH_DEFINE_POINTWISE(name, params, ...) \
  HEARTH_DEFINE_OUT(name, params, __VA_ARGS__)     \
  HEARTH_DEFINE_INPLACE(name##_, params, __VA_ARGS__)
