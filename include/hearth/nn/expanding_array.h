#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hearth/shape.h"

namespace hearth {

/// D values, given as a list or as one number for all dimensions.
template <size_t D, class T = int64_t>
class HEARTH_API ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(ArrayRef<T>(values)) {}
  ExpandingArray(ArrayRef<T> values) {
    HEARTH_CHECK(values.size() == D, "Expected ", D, " values, but instead got ", values.size());
    for (size_t i = 0; i < D; ++i) values_[i] = values[i];
  }
  ExpandingArray(T single) { values_.fill(single); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }
  size_t size() const noexcept { return D; }

 protected:
  std::array<T, D> values_;
};

/// An ExpandingArray of optional elements; std::nullopt prints as "None".
template <size_t D, class T = int64_t>
class HEARTH_API ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
 public:
  using Base = ExpandingArray<D, std::optional<T>>;
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& values)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(values)) {}
  ExpandingArrayWithOptionalElem(ArrayRef<T> values) : Base(optional(values)) {}
  ExpandingArrayWithOptionalElem(T single) : Base(std::optional<T>(single)) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(values)) {}

 private:
  static std::vector<std::optional<T>> optional(ArrayRef<T> values) {
    return {values.begin(), values.end()};
  }
};

namespace detail {
template <class T>
void append_element(std::string& out, const T& value) {
  append_any(out, value);
}
template <class T>
void append_element(std::string& out, const std::optional<T>& value) {
  value ? append_any(out, *value) : append(out, std::string_view("None"));
}
}  // namespace detail

/// "[5, 3]", or "5" if D is 1.
template <size_t D, class T>
std::string as_text(const ExpandingArray<D, T>& values) {
  std::string out = D == 1 ? "" : "[";
  for (size_t i = 0; i < D; ++i) {
    if (i) out += ", ";
    detail::append_element(out, (*values)[i]);
  }
  return D == 1 ? out : out + "]";
}
template <class Traits, size_t D, class T>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const ExpandingArray<D, T>& values) {
  return out << as_text(values);
}

}  // namespace hearth
