#pragma once

#include <functional>

#include "ops/autocast.h"
#include "ops/define.h"

namespace hearth {

/// The out= form of a composed op: copies the result of `compute`, which runs without autocast.
Tensor& write_out(const char* op, Tensor& out, const std::function<Tensor()>& compute);
/// The in-place form of a composed op; throws if the result cannot be cast to self's dtype.
Tensor& write_inplace(Tensor& self, const std::function<Tensor()>& compute);

/// A composed op with the forms of an invocation; see composed.
template <class F>
struct ComposedInvocation {
  const char* op;
  F compute;
  Tensor call() const { return compute(); }
  Tensor& inplace(const Tensor& self) const {
    return write_inplace(const_cast<Tensor&>(self), [this] { return compute(); });
  }
  Tensor& out(Tensor& target) const {
    return write_out(op, target, [this] { return compute(); });
  }
};

/// The composed op `compute`, a function without arguments, as an invocation: `pick` can choose
/// between it and a kernel op.
template <class F>
ComposedInvocation<F> composed(const char* op, F compute) {
  return {op, std::move(compute)};
}

}  // namespace hearth

// The method, the free function and the out= form of a composed op; see HEARTH_DEFINE_METHOD.
#define HEARTH_DEFINE_COMPOSED_OUT(name, params, ...)                      \
  HEARTH_DEFINE_METHOD(Tensor, name, params, __VA_ARGS__)                  \
  Tensor& name##_out(Tensor& out, const Tensor& self HEARTH_REST params) { \
    check_defined(#name, 0, "self", self);                                 \
    return write_out(#name, out, [&] { return __VA_ARGS__; });             \
  }

// HEARTH_DEFINE_COMPOSED_OUT, and the in-place forms.
#define HEARTH_DEFINE_COMPOSED(name, params, ...)       \
  HEARTH_DEFINE_COMPOSED_OUT(name, params, __VA_ARGS__) \
  HEARTH_DEFINE_INPLACE_AS(name##_, params, write_inplace(self, [&] { return __VA_ARGS__; }))

// The out= form of a function without self: `params` is the whole parameter list.
#define HEARTH_DEFINE_WRITE_OUT(name, params, ...)             \
  Tensor& name##_out(Tensor& out HEARTH_REST params) {         \
    return write_out(#name, out, [&] { return __VA_ARGS__; }); \
  }
