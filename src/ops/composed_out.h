#pragma once

#include <functional>

#include "ops/autocast.h"
#include "ops/define.h"

namespace hearth {

/// The out= form of a composed op: what `compute` returns, copied. Autocast stays out of it.
Tensor& write_out(const char* op, Tensor& out, const std::function<Tensor()>& compute);
/// Its in-place form; a result that self's dtype cannot take is refused.
Tensor& write_inplace(const Tensor& self, const Tensor& result);

}  // namespace hearth

// The method, the free function and the out= form of a composed op; see HEARTH_DEFINE_METHOD.
#define HEARTH_DEFINE_COMPOSED_OUT(name, params, ...)                      \
  HEARTH_DEFINE_METHOD(Tensor, name, params, __VA_ARGS__)                  \
  Tensor& name##_out(Tensor& out, const Tensor& self HEARTH_REST params) { \
    check_defined(#name, 0, "self", self);                                 \
    return write_out(#name, out, [&] { return __VA_ARGS__; });             \
  }

// The same and the in-place forms.
#define HEARTH_DEFINE_COMPOSED(name, params, ...)       \
  HEARTH_DEFINE_COMPOSED_OUT(name, params, __VA_ARGS__) \
  Tensor& name##_(Tensor& self HEARTH_REST params) {    \
    const NoAutocast plain;                             \
    check_defined(#name "_", 0, "self", self);          \
    return write_inplace(self, __VA_ARGS__);            \
  }                                                     \
  Tensor& Tensor::name##_(HEARTH_LIST params) const {   \
    const NoAutocast plain;                             \
    const Tensor& self = *this;                         \
    check_defined(#name "_", 0, "self", self);          \
    return write_inplace(self, __VA_ARGS__);            \
  }
