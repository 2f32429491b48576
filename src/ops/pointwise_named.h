#pragma once

#include "ops/pointwise.h"

namespace hearth {

namespace detail {

template <class F, const OpInfo& facts>
constexpr OpRecord named_record_of() {
  OpRecord record = pointwise_record<F>;
  record.info = &facts;
  return record;
}
template <class F, const OpInfo& facts>
inline constexpr OpRecord named_record = named_record_of<F, facts>();

}  // namespace detail

/// pointwise(functor, inputs...) with the info of an overload; see with_node.
template <const OpInfo& facts, class F, class... T>
auto pointwise_as(F f, const T&... inputs) {
  static_assert(sizeof(F) <= kFunctorBytes && sizeof...(T) == fn::arity<F>);
  return Invocation<detail::named_record<F, facts>, F, InputPointers<T...>>(f, inputs...);
}

}  // namespace hearth

// An operator of a tensor and a tensor or number. AS: with a number, its grad_fn has the node name
// of `number_info`.
#define HEARTH_DEFINE_BINARY(name, Functor)                                                   \
  HEARTH_DEFINE_ALL_FORMS(name, (const Tensor& other), pointwise(fn::Functor{}, self, other)) \
  HEARTH_DEFINE_ALL_FORMS(name, (const Scalar& other),                                        \
                          pointwise(fn::Functor{}, self, wrapped_number(other)))
#define HEARTH_DEFINE_BINARY_AS(name, Functor, number_info)                                   \
  HEARTH_DEFINE_ALL_FORMS(name, (const Tensor& other), pointwise(fn::Functor{}, self, other)) \
  HEARTH_DEFINE_ALL_FORMS(name, (const Scalar& other),                                        \
                          pointwise_as<number_info>(fn::Functor{}, self, wrapped_number(other)))
