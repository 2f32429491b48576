#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "c10/util/ArrayRef.h"

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
