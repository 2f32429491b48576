#pragma once

#include "hearth/reduction.h"
#include "hearth/tensor.h"

namespace hearth {

// See as_methods.inc for the forms. One pragma exports all functions, which compiles faster than
// HEARTH_API on each.
#pragma GCC visibility push(default)
#define HEARTH_ALL_FORMS(name, ...)                           \
  Tensor name(const Tensor& self __VA_OPT__(, ) __VA_ARGS__); \
  Tensor& name##_(Tensor& self __VA_OPT__(, ) __VA_ARGS__);   \
  Tensor& name##_out(Tensor& out, const Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_OUT(name, ...)                                 \
  Tensor name(const Tensor& self __VA_OPT__(, ) __VA_ARGS__); \
  Tensor& name##_out(Tensor& out, const Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_METHOD(R, name, ...) R name(const Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_INPLACE(name, ...) Tensor& name(Tensor& self __VA_OPT__(, ) __VA_ARGS__);
#define HEARTH_FUNCTION(R, name, ...) R name(__VA_ARGS__);
#define HEARTH_METHOD_ONLY(R, name, ...)
#define HEARTH_QUALIFIED(R, name, ...) \
  namespace by_name {                  \
  R name(__VA_ARGS__);                 \
  }
#include "hearth/ops/list.inc"
#pragma GCC visibility pop

}  // namespace hearth
