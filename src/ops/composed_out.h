#pragma once

#include "ops/autocast.h"
#include "ops/define.h"

namespace hearth {

/// The out= form of a composed op: its result, copied.
Tensor& copy_to_out(const char* name, Tensor& out, const Tensor& result);

}  // namespace hearth

// The method, the free function and the out= form of a composed op; see HEARTH_DEFINE_METHOD.
#define HEARTH_DEFINE_COMPOSED_OUT(name, params, ...)                      \
  HEARTH_DEFINE_METHOD(Tensor, name, params, __VA_ARGS__)                  \
  Tensor& name##_out(Tensor& out, const Tensor& self HEARTH_REST params) { \
    const NoAutocast plain;                                                \
    return copy_to_out(#name, out, __VA_ARGS__);                           \
  }

// The same and the in-place forms.
#define HEARTH_DEFINE_COMPOSED(name, params, ...)       \
  HEARTH_DEFINE_COMPOSED_OUT(name, params, __VA_ARGS__) \
  Tensor& name##_(Tensor& self HEARTH_REST params) {    \
    const NoAutocast plain;                             \
    return self.copy_(__VA_ARGS__);                     \
  }                                                     \
  Tensor& Tensor::name##_(HEARTH_LIST params) const {   \
    const NoAutocast plain;                             \
    const Tensor& self = *this;                         \
    return self.copy_(__VA_ARGS__);                     \
  }
