#pragma once

#include <type_traits>
#include <typeinfo>
#include <utility>

#include "hearth/demangle.h"
#include "hearth/error.h"
#include "hearth/owned_ptr.h"

namespace hearth::nn {

/// Holds a copyable value of any type.
class AnyValue {
 public:
  AnyValue(AnyValue&&) noexcept = default;
  AnyValue& operator=(AnyValue&&) noexcept = default;
  AnyValue(const AnyValue& other) : content_(other.content_ ? other.content_->clone() : Owned()) {}
  AnyValue& operator=(const AnyValue& other) {
    content_ = other.content_ ? other.content_->clone() : Owned();
    return *this;
  }
  ~AnyValue() = default;
  template <class T, std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>, int> = 0>
  explicit AnyValue(T&& value) : content_(new Holder<std::decay_t<T>>(std::forward<T>(value))) {}

  /// Pointer to the value if its type is exactly T, else null.
  template <class T>
  T* try_get() {
    static_assert(!std::is_reference_v<T> && !std::is_array_v<T>,
                  "AnyValue holds decayed types: ask for T or T*, not for T& or T[]");
    return holds<T>() ? &static_cast<Holder<T>&>(*content_).value : nullptr;
  }
  template <class T>
  const T* try_get() const {
    return const_cast<AnyValue*>(this)->try_get<T>();
  }
  /// The value, whose type must be exactly T.
  template <class T>
  T get() const {
    const T* value = try_get<T>();
    HEARTH_CHECK(value, "Attempted to cast AnyValue to ", demangle(typeid(T).name()),
                 ", but its actual type is ", demangle(type_info().name()));
    return *value;
  }
  const std::type_info& type_info() const noexcept {
    return content_ ? content_->type() : typeid(void);
  }

 private:
  struct Content;
  using Owned = hearth::detail::OwnedPtr<Content>;
  struct Content {
    virtual ~Content() = default;
    virtual const std::type_info& type() const noexcept = 0;
    virtual Owned clone() const = 0;
  };
  template <class T>
  struct Holder final : Content {
    template <class U>
    explicit Holder(U&& init) : value(std::forward<U>(init)) {}
    const std::type_info& type() const noexcept override { return typeid(T); }
    Owned clone() const override { return Owned(new Holder(value)); }
    T value;
  };
  template <class T>
  bool holds() const {
    return content_ && content_->type() == typeid(T);
  }

  Owned content_;
};

}  // namespace hearth::nn
