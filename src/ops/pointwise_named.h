#pragma once

#include "ops/pointwise.h"

namespace hearth {

namespace detail {

template <class F, const OpInfo& op_info>
constexpr OpRecord named_record_of() {
  OpRecord record = pointwise_record<F>;
  record.info = &op_info;
  return record;
}
template <class F, const OpInfo& op_info>
inline constexpr OpRecord named_record = named_record_of<F, op_info>();

}  // namespace detail

/// pointwise(functor, inputs...) with `op_info` in place of the functor's own, to give the grad_fn
/// another name.
template <const OpInfo& op_info, class F, class... T>
auto pointwise_as(F f, const T&... inputs) {
  static_assert(sizeof(F) <= kFunctorBytes && sizeof...(T) == fn::arity<F>);
  return Invocation<detail::named_record<F, op_info>, F, InputPointers<T...>>(f, inputs...);
}

}  // namespace hearth

// An operator of a tensor and a tensor or number. HEARTH_DEFINE_BINARY_AS takes the grad_fn's name
// from `number_info` if the other operand is a number.
#define HEARTH_DEFINE_BINARY(name, Functor)                                                   \
  HEARTH_DEFINE_ALL_FORMS(name, (const Tensor& other), pointwise(fn::Functor{}, self, other)) \
  HEARTH_DEFINE_ALL_FORMS(name, (const Scalar& other),                                        \
                          pointwise(fn::Functor{}, self, wrapped_number(other)))
#define HEARTH_DEFINE_BINARY_AS(name, Functor, number_info)                                   \
  HEARTH_DEFINE_ALL_FORMS(name, (const Tensor& other), pointwise(fn::Functor{}, self, other)) \
  HEARTH_DEFINE_ALL_FORMS(name, (const Scalar& other),                                        \
                          pointwise_as<number_info>(fn::Functor{}, self, wrapped_number(other)))
