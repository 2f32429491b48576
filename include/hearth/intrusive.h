#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace hearth {

/// Base of reference-counted objects.
struct RefCounted {
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }  ///< adds a reference
  /// For weak references: adds a reference unless the last one was already dropped.
  bool retain_if_alive() const {
    uint32_t count = refs_.load(std::memory_order_relaxed);
    while (count != 0)
      if (refs_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
    return false;
  }
  /// Drops a reference; returns whether it was the last, so that the caller destroys the object.
  bool drop() const { return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// drop() for objects without weak references: a sole owner needs no read-modify-write.
  bool drop_unshared() const { return refs_.load(std::memory_order_acquire) == 1 || drop(); }
  uint32_t use_count() const { return refs_.load(std::memory_order_acquire); }

 protected:
  ~RefCounted() = default;

 private:
  mutable std::atomic<uint32_t> refs_{1};
};

/// Shared ownership of a RefCounted object; T::destroy(T*) is called for the last owner.
template <class T>
class IntrusivePtr {
 public:
  using element_type = T;
  IntrusivePtr() = default;
  IntrusivePtr(std::nullptr_t) {}
  /// Takes over a reference that the caller holds.
  static IntrusivePtr adopt(T* object) {
    IntrusivePtr result;
    result.object_ = object;
    return result;
  }
  /// Adds a reference.
  static IntrusivePtr share(T* object) {
    if (object) object->retain();
    return adopt(object);
  }
  IntrusivePtr(const IntrusivePtr& other) : object_(other.object_) {
    if (object_) object_->retain();
  }
  IntrusivePtr(IntrusivePtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  IntrusivePtr(const IntrusivePtr<U>& other) : object_(other.get()) {
    if (object_) object_->retain();
  }
  template <class U>
  IntrusivePtr(IntrusivePtr<U>&& other) noexcept : object_(other.detach()) {}
  /// Shares an object that a std::shared_ptr owns, if T allows it (T::hold).
  template <class U>
  requires std::is_convertible_v<U*, T*> IntrusivePtr(const std::shared_ptr<U>& shared)
      : object_(shared.get()) {
    if (object_) T::hold(shared);
  }
  /// A std::shared_ptr that shares the object, if T allows it (T::shared).
  template <class U>
  requires std::is_convertible_v<T*, U*>
  operator std::shared_ptr<U>() const {
    return object_ ? std::shared_ptr<U>(T::shared(object_), object_) : nullptr;
  }
  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~IntrusivePtr() {
    if (object_ && object_->drop()) T::destroy(object_);
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T* detach() { return std::exchange(object_, nullptr); }  ///< passes its reference to the caller
  void reset() { *this = IntrusivePtr(); }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) {
    return a.object_ == b.object_;
  }
  friend bool operator==(const IntrusivePtr& a, std::nullptr_t) { return !a.object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace hearth
