#pragma once

#include <utility>
#include <variant>

#include "c10/namespaces.h"

namespace c10 {

/// Holds a value, or a reference to a value that must outlive it.
template <class T>
class MaybeOwned {
 public:
  static MaybeOwned borrowed(const T& value) { return MaybeOwned(&value); }
  static MaybeOwned owned(T&& value) { return MaybeOwned(std::move(value)); }

  const T& operator*() const {
    const auto* const* reference = std::get_if<const T*>(&content_);
    return reference ? **reference : std::get<T>(content_);
  }
  const T* operator->() const { return &**this; }

 private:
  explicit MaybeOwned(const T* reference) : content_(reference) {}
  explicit MaybeOwned(T&& value) : content_(std::move(value)) {}

  std::variant<const T*, T> content_;
};

}  // namespace c10
