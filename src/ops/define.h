#pragma once

#include "ops/call.h"

namespace hearth {

/// An optional argument, undefined if it is not given.
inline const Tensor& or_undefined(const std::optional<Tensor>& tensor) {
  static const Tensor none;
  return tensor ? *tensor : none;
}

/// An optional argument; if not given, an undefined generator, which means the default one.
inline const Generator& or_default(const std::optional<Generator>& generator) {
  static const Generator none;
  return generator ? *generator : none;
}

}  // namespace hearth

// The definitions that go with the declarations of hearth/ops/*.inc. `params` is the parameter list
// in parentheses without `self`. The last argument is an invocation (pointwise(...) or
// invoke<Op>(...)) or, for METHOD, METHOD_ONLY and INPLACE_AS, an expression; in it `self` is the
// tensor.

// Before a parameter list, LIST removes the parentheses; REST also begins with a comma if the list
// is not empty.
#define HEARTH_LIST(...) __VA_ARGS__
#define HEARTH_REST(...) __VA_OPT__(, ) __VA_ARGS__

// An undefined self is refused first: the last argument may read its sizes.

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

// The function and the method of an in-place operator; the expression is a Tensor&.
#define HEARTH_DEFINE_INPLACE_AS(name, params, ...)  \
  Tensor& name(Tensor& self HEARTH_REST params) {    \
    ::hearth::check_defined(#name, 0, "self", self); \
    return __VA_ARGS__;                              \
  }                                                  \
  Tensor& Tensor::name(HEARTH_LIST params) const {   \
    Tensor& self = const_cast<Tensor&>(*this);       \
    ::hearth::check_defined(#name, 0, "self", self); \
    return __VA_ARGS__;                              \
  }

#define HEARTH_DEFINE_INPLACE(name, params, ...) \
  HEARTH_DEFINE_INPLACE_AS(name, params, (__VA_ARGS__).inplace(self))

#define HEARTH_DEFINE_OUT(name, params, ...)                               \
  HEARTH_DEFINE_METHOD(Tensor, name, params, (__VA_ARGS__).call())         \
  Tensor& name##_out(Tensor& out, const Tensor& self HEARTH_REST params) { \
    ::hearth::check_defined(#name, 0, "self", self);                       \
    return (__VA_ARGS__).out(out);                                         \
  }

// An operator with two results.
#define HEARTH_DEFINE_PAIR(name, params, ...)                                                      \
  HEARTH_DEFINE_METHOD(TensorPair, name, params, (__VA_ARGS__).pair())                             \
  TensorRefPair name##_out(Tensor& first, Tensor& second, const Tensor& self HEARTH_REST params) { \
    ::hearth::check_defined(#name, 0, "self", self);                                               \
    return (__VA_ARGS__).out(first, second);                                                       \
  }

// A function without a method; `params` is the whole parameter list.
#define HEARTH_DEFINE_FUNCTION(name, params, ...)     \
  Tensor name params { return (__VA_ARGS__).call(); } \
  Tensor& name##_out(Tensor& out HEARTH_REST params) { return (__VA_ARGS__).out(out); }

#define HEARTH_DEFINE_ALL_FORMS(name, params, ...) \
  HEARTH_DEFINE_OUT(name, params, __VA_ARGS__)     \
  HEARTH_DEFINE_INPLACE(name##_, params, __VA_ARGS__)
