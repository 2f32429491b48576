#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "c10/util/ArrayRef.h"

namespace hearth {

/// Whether the list exists and has these elements. (A template, so that it takes nothing else.)
template <std::same_as<OptionalIntArrayRef> T>
bool operator==(const T& list, IntArrayRef values) {
  return list.has_value() && *list == values;
}

}  // namespace hearth

namespace c10 {

namespace detail {
/// Counterpart of OptionalIntArrayRef for other element types.
template <class T>
class OptionalListRef : public std::optional<ArrayRef<T>> {
 public:
  using std::optional<ArrayRef<T>>::optional;
  OptionalListRef(const T& value) : OptionalListRef(ArrayRef<T>(value)) {}
  OptionalListRef(const std::vector<T>& values) : OptionalListRef(ArrayRef<T>(values)) {}
};
}  // namespace detail

/// std::optional<ArrayRef<T>> with implicit conversions from one element and from a list.
template <class T>
using OptionalArrayRef = std::conditional_t<std::is_same_v<T, int64_t>, hearth::OptionalIntArrayRef,
                                            detail::OptionalListRef<T>>;

}  // namespace c10

namespace at {
using c10::OptionalArrayRef;
}
namespace torch {
using c10::OptionalArrayRef;
}
