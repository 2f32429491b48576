#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "c10/namespaces.h"
#include "hearth/intrusive.h"

namespace c10 {

/// Base class of the objects that an intrusive_ptr can own.
class intrusive_ptr_target : public std::enable_shared_from_this<intrusive_ptr_target> {
 public:
  virtual ~intrusive_ptr_target() = default;

 protected:
  intrusive_ptr_target() = default;
  intrusive_ptr_target(const intrusive_ptr_target&) = default;
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) = default;
};

template <class T>
class weak_intrusive_ptr;

/// Shared ownership of a T.
template <class T>
class intrusive_ptr {
 public:
  using element_type = T;

  intrusive_ptr() = default;
  intrusive_ptr(std::nullptr_t) {}
  explicit intrusive_ptr(std::unique_ptr<T> object) : object_(std::move(object)) {}
  /// From and to std::shared_ptr, which Hearth's own classes use.
  template <class From>
  requires std::is_convertible_v<From*, T*> intrusive_ptr(std::shared_ptr<From> object)
      : object_(std::move(object)) {}
  template <class To>
  requires std::is_convertible_v<T*, To*>
  operator std::shared_ptr<To>() const { return object_; }
  /// From and to the owners of nodes of a graph.
  template <class From>
  requires std::is_convertible_v<From*, T*> intrusive_ptr(const hearth::IntrusivePtr<From>& node)
      : object_(std::shared_ptr<T>(node)) {}
  template <class To>
  requires std::is_convertible_v<T*, To*>
  operator hearth::IntrusivePtr<To>() const { return object_; }
  template <class From>
  requires std::is_convertible_v<From*, T*> intrusive_ptr(intrusive_ptr<From> other)
      : object_(std::move(other.object_)) {}

  template <class... Args>
  static intrusive_ptr make(Args&&... args) {
    return intrusive_ptr(std::make_shared<T>(std::forward<Args>(args)...));
  }
  /// Takes ownership of an object created by `new`.
  static intrusive_ptr unsafe_steal_from_new(T* object) {
    return intrusive_ptr(std::shared_ptr<T>(object));
  }
  /// Adds an owner to an object that an intrusive_ptr already owns.
  static intrusive_ptr unsafe_reclaim_from_nonowning(T* object) {
    return intrusive_ptr(std::static_pointer_cast<T>(object->shared_from_this()));
  }

  T* get() const noexcept { return object_.get(); }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_.get(); }
  explicit operator bool() const noexcept { return defined(); }
  bool defined() const noexcept { return object_ != nullptr; }
  size_t use_count() const noexcept { return static_cast<size_t>(object_.use_count()); }
  bool unique() const noexcept { return use_count() == 1; }
  void reset() noexcept { object_.reset(); }
  void swap(intrusive_ptr& other) noexcept { object_.swap(other.object_); }
  template <class Other>
  bool operator==(const intrusive_ptr<Other>& other) const noexcept {
    return object_ == other.object_;
  }
  bool operator==(std::nullptr_t) const noexcept { return !defined(); }

 private:
  template <class Other>
  friend class intrusive_ptr;
  friend class weak_intrusive_ptr<T>;
  std::shared_ptr<T> object_;
};

/// Reference to an object without ownership; lock() returns null after its destruction.
template <class T>
class weak_intrusive_ptr {
 public:
  explicit weak_intrusive_ptr(const intrusive_ptr<T>& object) : object_(object.object_) {}
  intrusive_ptr<T> lock() const noexcept { return intrusive_ptr<T>(object_.lock()); }
  bool expired() const noexcept { return object_.expired(); }
  size_t use_count() const noexcept { return static_cast<size_t>(object_.use_count()); }
  void reset() noexcept { object_.reset(); }

 private:
  std::weak_ptr<T> object_;
};

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::make(std::forward<Args>(args)...);
}

}  // namespace c10

template <class T>
struct std::hash<c10::intrusive_ptr<T>> {
  size_t operator()(const c10::intrusive_ptr<T>& pointer) const {
    return std::hash<T*>()(pointer.get());
  }
};
