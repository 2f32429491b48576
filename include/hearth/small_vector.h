#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace hearth {

/// A vector whose first N elements need no heap.
template <class T, size_t N>
class SmallVector {
 public:
  SmallVector() = default;
  SmallVector(const SmallVector&) = delete;
  SmallVector& operator=(const SmallVector&) = delete;
  ~SmallVector() {
    clear();
    if (data_ != inline_data()) ::operator delete(data_);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) grow();
    T* added = new (data_ + size_) T(std::forward<Args>(args)...);
    ++size_;  // only now: the constructor may throw
    return *added;
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  /// Appends default values or drops the last elements.
  void resize(size_t size) {
    while (size_ > size) pop_back();
    while (size_ < size) emplace_back();
  }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    while (size_ > 0) pop_back();
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  [[gnu::noinline]] void grow() {
    T* larger = static_cast<T*>(::operator new(2 * capacity_ * sizeof(T)));
    for (size_t i = 0; i < size_; ++i) {
      new (larger + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    if (data_ != inline_data()) ::operator delete(data_);
    data_ = larger;
    capacity_ *= 2;
  }

  alignas(T) unsigned char inline_[N * sizeof(T)];
  T* data_ = inline_data();
  size_t size_ = 0;
  size_t capacity_ = N;
};

}  // namespace hearth
