#pragma once

#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

#include "hearth/shape.h"

namespace hearth {

namespace detail {
template <class It>
concept Iterator = !std::is_arithmetic_v<It> && requires(It it) {
  *it;
  ++it;
};
template <class Range>
concept HasBeginAndEnd = requires(const Range& range) {
  range.begin();
  range.end();
};
}  // namespace detail

/// A vector that stores up to N elements without heap memory; by default, N is the number that fits
/// into 40 bytes, but at least 1.
template <class T, size_t N = (sizeof(T) < 40 ? 40 / sizeof(T) : 1)>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() {}  // not defaulted, so that T() does not fill the inline elements with zeros
  SmallVector(const SmallVector& other) : SmallVector() { append(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) : SmallVector() { take(other); }
  SmallVector(std::initializer_list<T> values) : SmallVector() { append(values); }
  explicit SmallVector(size_t count, const T& value = T()) : SmallVector() { resize(count, value); }
  template <detail::Iterator It>
  SmallVector(It first, It last) : SmallVector() {
    append(first, last);
  }
  template <detail::HasBeginAndEnd Range>
  requires(!std::is_same_v<Range, SmallVector>) explicit SmallVector(const Range& values)
      : SmallVector() {
    append(values.begin(), values.end());
  }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) {
    if (this == &other) return *this;
    clear();
    take(other);
    return *this;
  }
  ~SmallVector() {
    clear();
    free_heap();
  }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  operator ArrayRef<T>() const { return {data_, size_}; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      T value(std::forward<Args>(args)...);  // before grow(): arguments may refer to elements
      grow(2 * capacity_);
      return emplace_within_capacity(std::move(value));
    }
    return emplace_within_capacity(std::forward<Args>(args)...);
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  template <detail::Iterator It>
  void append(It first, It last) {
    for (; first != last; ++first) emplace_back(*first);
  }
  void append(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  void append(size_t count, T value) { resize(size_ + count, value); }
  template <detail::Iterator It>
  void assign(It first, It last) {
    clear();
    append(first, last);
  }
  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  void assign(size_t count, T value) {
    clear();
    resize(count, value);
  }
  /// Appends default values or drops the last elements.
  void resize(size_t size) {
    while (size_ > size) pop_back();
    while (size_ < size) emplace_back();
  }
  void resize(size_t size, T value) {
    while (size_ > size) pop_back();
    while (size_ < size) push_back(value);
  }
  void reserve(size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
  T* insert(const T* position, T value) {
    const size_t index = static_cast<size_t>(position - data_);
    push_back(std::move(value));
    for (size_t i = size_ - 1; i > index; --i) std::swap(data_[i], data_[i - 1]);
    return data_ + index;
  }
  T* erase(const T* position) { return erase(position, position + 1); }
  T* erase(const T* first, const T* last) {
    T* const gap = data_ + (first - data_);
    T* to = gap;
    for (T* from = data_ + (last - data_); from != end();) *to++ = std::move(*from++);
    while (end() != to) pop_back();
    return gap;
  }
  void pop_back() { data_[--size_].~T(); }
  T pop_back_val() {
    T last = std::move(back());
    pop_back();
    return last;
  }
  void clear() {
    while (size_ > 0) pop_back();
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return ArrayRef<T>(a).equals(ArrayRef<T>(b));
  }

 private:
  static constexpr size_t kInlineCapacity = N > 0 ? N : 1;

  template <class... Args>
  T& emplace_within_capacity(Args&&... args) {
    T* added = new (data_ + size_) T(std::forward<Args>(args)...);
    ++size_;  // after the constructor, which may throw
    return *added;
  }
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  void free_heap() {
    if (data_ != inline_data()) ::operator delete(data_);
  }
  /// Moves the other vector's elements to this empty one.
  void take(SmallVector& other) {
    reserve(other.size_);
    for (T& value : other) emplace_back(std::move(value));
    other.clear();
  }
  [[gnu::noinline]] void grow(size_t capacity) {
    T* larger = static_cast<T*>(::operator new(capacity * sizeof(T)));
    for (size_t i = 0; i < size_; ++i) {
      new (larger + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    free_heap();
    data_ = larger;
    capacity_ = capacity;
  }

  alignas(T) unsigned char inline_[kInlineCapacity * sizeof(T)];
  T* data_ = inline_data();
  size_t size_ = 0;
  size_t capacity_ = kInlineCapacity;
};

}  // namespace hearth
