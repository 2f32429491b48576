#pragma once

#include "hearth/reduction.h"
#include "hearth/tensor.h"

namespace hearth {

// See as_methods.inc for the forms.
#define HEARTH_ALL_FORMS(name, ...)                                      \
  HEARTH_API Tensor name(const Tensor& self __VA_OPT__(, ) __VA_ARGS__); \
  HEARTH_API Tensor& name##_(Tensor& self __VA_OPT__(, ) __VA_ARGS__);   \
  HEARTH_API Tensor& name##_out(Tensor& out, const Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_OUT(name, ...)                                            \
  HEARTH_API Tensor name(const Tensor& self __VA_OPT__(, ) __VA_ARGS__); \
  HEARTH_API Tensor& name##_out(Tensor& out, const Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_METHOD(R, name, ...) \
  HEARTH_API R name(const Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_INPLACE(name, ...) HEARTH_API Tensor& name(Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_FUNCTION(R, name, ...) HEARTH_API R name(__VA_ARGS__);
#define HEARTH_METHOD_ONLY(R, name, ...)
#define HEARTH_QUALIFIED(R, name, ...) \
  namespace by_name {                  \
  HEARTH_API R name(__VA_ARGS__);      \
  }
#include "hearth/ops/list.inc"

}  // namespace hearth
