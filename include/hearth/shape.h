#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "hearth/device.h"
#include "hearth/error.h"
#include "hearth/fwd.h"

namespace hearth {

/// A view of a constant array, which must outlive it.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<const T*>;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(size_t(end - begin)) {}
  template <class A>
  ArrayRef(const std::vector<T, A>& values) : data_(values.data()), size_(values.size()) {}
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& values) : data_(values.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&values)[N]) : data_(values), size_(N) {}
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // the list lives until the end of the call
#endif
  constexpr ArrayRef(const std::initializer_list<T>& values)
      : data_(values.begin() == values.end() ? nullptr : values.begin()), size_(values.size()) {}
#pragma GCC diagnostic pop

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* cbegin() const { return data_; }
  constexpr const T* cend() const { return data_ + size_; }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  /// Element i; throws IndexError out of range.
  const T& at(size_t i) const {
    HEARTH_CHECK_AS(IndexError, i < size_, "ArrayRef: invalid index Index = ", i,
                    "; Length = ", size_);
    return data_[i];
  }
  constexpr ArrayRef slice(size_t start, size_t count) const { return {data_ + start, count}; }
  constexpr ArrayRef slice(size_t start) const { return {data_ + start, size_ - start}; }
  /// Whether the predicate holds for all elements.
  template <class Predicate>
  bool allMatch(const Predicate& holds) const {
    for (const T& value : *this)
      if (!holds(value)) return false;
    return true;
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }  ///< a copy of the elements
  bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i)
      if (!(data_[i] == other.data_[i])) return false;
    return true;
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}

using IntArrayRef = ArrayRef<int64_t>;  ///< sizes, strides or dimensions
using TensorList = ArrayRef<Tensor>;    ///< a list of tensors

HEARTH_API std::string as_text(IntArrayRef values);  ///< "[2, 3]"

/// An optional IntArrayRef that also accepts an integer or a list as an argument.
class OptionalIntArrayRef {
 public:
  OptionalIntArrayRef() = default;
  OptionalIntArrayRef(std::nullopt_t) {}
  OptionalIntArrayRef(IntArrayRef values) : values_(values), has_value_(true) {}
  OptionalIntArrayRef(const std::vector<int64_t>& values) : values_(values), has_value_(true) {}
  OptionalIntArrayRef(const std::initializer_list<int64_t>& values)
      : values_(values), has_value_(true) {}
  OptionalIntArrayRef(const int64_t& value) : values_(value), has_value_(true) {}
  bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value_; }
  IntArrayRef value() const { return values_; }
  IntArrayRef operator*() const { return values_; }
  const IntArrayRef* operator->() const { return &values_; }

 private:
  IntArrayRef values_;
  bool has_value_ = false;
};

namespace detail {

/// Owned list of at most kMaxDims sizes, strides or dimensions, without heap memory.
class Dims {
 public:
  Dims() : size_(0) {}
  Dims(const Dims& other) : size_(other.size_) { assign(other.begin()); }
  Dims& operator=(const Dims& other) {
    size_ = other.size_;
    assign(other.begin());
    return *this;
  }
  Dims(IntArrayRef values) : size_(checked(values.size())) { assign(values.data()); }
  Dims(std::initializer_list<int64_t> values) : Dims(IntArrayRef(values)) {}
  Dims(size_t count, int64_t value) : size_(checked(count)) {
    for (auto& v : *this) v = value;
  }
  static Dims uninitialized(size_t count) {
    Dims result;
    result.size_ = checked(count);
    return result;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* begin() { return values_; }
  int64_t* end() { return values_ + size_; }
  int64_t* data() { return values_; }
  const int64_t* begin() const { return values_; }
  const int64_t* end() const { return values_ + size_; }
  const int64_t* data() const { return values_; }
  int64_t& operator[](size_t i) { return values_[i]; }
  int64_t operator[](size_t i) const { return values_[i]; }
  void push_back(int64_t value) {
    checked(size_ + 1u);
    values_[size_++] = value;
  }
  void erase(size_t i) {
    for (size_t k = i + 1; k < size_; ++k) values_[k - 1] = values_[k];
    --size_;
  }
  void insert(size_t i, int64_t value) {
    push_back(value);
    for (size_t k = size_ - 1u; k > i; --k) values_[k] = values_[k - 1];
    values_[i] = value;
  }
  operator IntArrayRef() const { return {values_, size_}; }
  friend bool operator==(const Dims& a, const Dims& b) { return IntArrayRef(a).equals(b); }

 private:
  static uint32_t checked(size_t count) {
    HEARTH_CHECK(count <= size_t(kMaxDims), "tensors of more than ", kMaxDims,
                 " dimensions are not supported (got ", count, ")");
    return static_cast<uint32_t>(count);
  }
  void assign(const int64_t* from) {
    for (uint32_t i = 0; i < size_; ++i) values_[i] = from[i];
  }
  uint32_t size_;
  int64_t values_[kMaxDims];
};

inline std::string as_text(const Dims& dims) { return hearth::as_text(IntArrayRef(dims)); }

}  // namespace detail

}  // namespace hearth
