#pragma once

#include <utility>
#include <variant>

#include "c10/namespaces.h"
#include "hearth/tensor.h"

namespace hearth {

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

inline MaybeOwned<Tensor> Tensor::expect_contiguous(MemoryFormat format) const& {
  if (is_contiguous(format)) return MaybeOwned<Tensor>::borrowed(*this);
  return MaybeOwned<Tensor>::owned(contiguous(format));
}

}  // namespace hearth
