#pragma once

#include "ops/pointwise.h"

namespace hearth {

/// A functor's facts under another name of grad_fn's: PyTorch numbers the overloads of a function,
/// as in MulBackward1, where one functor serves several.
constexpr OpInfo with_node(OpInfo info, const char* node) {
  info.node = node;
  return info;
}

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

/// pointwise(functor, inputs...) with facts that with_node made.
template <const OpInfo& facts, class F, class... T>
auto pointwise_as(F f, const T&... inputs) {
  static_assert(sizeof(F) <= kFunctorBytes && sizeof...(T) == fn::arity<F>);
  return Invocation<detail::named_record<F, facts>, F, InputPointers<T...>>(f, inputs...);
}

}  // namespace hearth
