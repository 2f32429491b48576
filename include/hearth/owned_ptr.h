#pragma once

namespace hearth::detail {

/// A std::unique_ptr<T> that is cheap to compile (docs/adr/0006-weight-of-the-umbrella.md).
template <class T>
class OwnedPtr {
 public:
  OwnedPtr() noexcept = default;
  explicit OwnedPtr(T* owned) noexcept : owned_(owned) {}
  OwnedPtr(OwnedPtr&& other) noexcept : owned_(other.owned_) { other.owned_ = nullptr; }
  OwnedPtr& operator=(OwnedPtr&& other) noexcept {
    T* const former = owned_;
    owned_ = other.release();
    if (owned_ != former) destroy(former);
    return *this;
  }
  ~OwnedPtr() { destroy(owned_); }

  T* get() const noexcept { return owned_; }
  /// Gives up the ownership of the object.
  T* release() noexcept {
    T* const released = owned_;
    owned_ = nullptr;
    return released;
  }
  T* operator->() const noexcept { return owned_; }
  T& operator*() const noexcept { return *owned_; }
  explicit operator bool() const noexcept { return owned_ != nullptr; }

 private:
  static void destroy(T* owned) noexcept {
    static_assert(sizeof(T) > 0, "T must be complete where its owner is destroyed");
    delete owned;
  }
  T* owned_ = nullptr;
};

}  // namespace hearth::detail
