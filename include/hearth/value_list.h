#pragma once

#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/ivalue.h"

namespace hearth {

/// The type of a list's elements or of a dict's keys or values, as an argument of constructors; it
/// has no effect, because each IValue knows its type.
struct ElementType {};

namespace detail {

/// 0 for lists of any values, or a letter for the element types that IValue's functions ask for.
template <class T>
inline constexpr char kind_of = std::is_same_v<T, bool>              ? 'b'
                                : std::is_same_v<T, int64_t>         ? 'i'
                                : std::is_same_v<T, double>          ? 'd'
                                : std::is_same_v<T, complex<double>> ? 'c'
                                : std::is_same_v<T, Tensor>          ? 't'
                                                                     : 0;

/// The elements of a ValueList.
struct ListContent {
  explicit ListContent(std::vector<IValue> elements, char element_kind = 0)
      : values(std::move(elements)), kind(element_kind) {}
  std::vector<IValue> values;
  char kind;
};

}  // namespace detail

/// A list in an IValue. Copies share the content, as LibTorch's do.
template <class T>
class ValueList {
  using Content = detail::ListContent;

 public:
  using value_type = T;
  using size_type = size_t;
  /// Refers to an element, to read or assign it.
  class Element {
   public:
    operator T() const { return value_.template to<T>(); }
    const IValue& get() const { return value_; }
    const Element& operator=(const T& value) const {
      value_ = IValue(value);
      return *this;
    }

   private:
    friend class ValueList;
    explicit Element(IValue& value) : value_(value) {}
    IValue& value_;
  };
  /// Iterates over copies of the elements.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;

    Iterator() = default;
    T operator*() const { return item_->template to<T>(); }
    T operator[](std::ptrdiff_t offset) const { return *(*this + offset); }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return Iterator(item_++); }
    Iterator operator--(int) { return Iterator(item_--); }
    Iterator& operator+=(std::ptrdiff_t offset) {
      item_ += offset;
      return *this;
    }
    Iterator& operator-=(std::ptrdiff_t offset) { return *this += -offset; }
    Iterator operator+(std::ptrdiff_t offset) const { return Iterator(item_ + offset); }
    Iterator operator-(std::ptrdiff_t offset) const { return Iterator(item_ - offset); }
    std::ptrdiff_t operator-(const Iterator& other) const { return item_ - other.item_; }
    auto operator<=>(const Iterator& other) const = default;

   private:
    friend class ValueList;
    explicit Iterator(IValue* item) : item_(item) {}
    IValue* item_ = nullptr;
  };
  using iterator = Iterator;

  ValueList() : ValueList(content_of({})) {}
  ValueList(std::initializer_list<T> values)
      : ValueList(content_of(std::vector<IValue>(values.begin(), values.end()))) {}
  template <class List>
  requires std::is_same_v<typename List::value_type, T>
  explicit ValueList(const List& values)
      : ValueList(content_of(std::vector<IValue>(values.begin(), values.end()))) {}
  explicit ValueList(ElementType) : ValueList() {}

  size_t size() const { return values().size(); }
  bool empty() const { return values().empty(); }
  Iterator begin() const { return Iterator(values().data()); }
  Iterator end() const { return begin() + std::ptrdiff_t(size()); }
  T get(size_t index) const { return values().at(index).template to<T>(); }
  T operator[](size_t index) const { return get(index); }
  decltype(auto) operator[](size_t index) {
    if constexpr (std::is_same_v<T, IValue>)
      return (values().at(index));
    else
      return Element(values().at(index));
  }
  void set(size_t index, const T& value) const { values().at(index) = IValue(value); }
  /// Element `index`, which becomes None.
  T extract(size_t index) const {
    return std::exchange(values().at(index), IValue()).template to<T>();
  }
  void push_back(const T& value) const { values().push_back(IValue(value)); }
  template <class... Args>
  void emplace_back(Args&&... args) const {
    push_back(T(std::forward<Args>(args)...));
  }
  void append(const ValueList& other) const {
    const std::vector<IValue> added = other.values();  // a copy: the content may be the same
    values().insert(values().end(), added.begin(), added.end());
  }
  Iterator insert(Iterator position, const T& value) const {
    const std::ptrdiff_t index = position - begin();
    values().insert(values().begin() + index, IValue(value));
    return begin() + index;
  }
  template <class... Args>
  Iterator emplace(Iterator position, Args&&... args) const {
    return insert(position, T(std::forward<Args>(args)...));
  }
  Iterator erase(Iterator position) const { return erase(position, position + 1); }
  Iterator erase(Iterator first, Iterator last) const {
    const std::ptrdiff_t index = first - begin();
    values().erase(values().begin() + index, values().begin() + (last - begin()));
    return begin() + index;
  }
  void pop_back() const { values().pop_back(); }
  void clear() const { values().clear(); }
  void reserve(size_t size) const { values().reserve(size); }
  void resize(size_t size) const { resize(size, T()); }
  void resize(size_t size, const T& value) const { values().resize(size, IValue(value)); }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  ValueList copy() const {
    return ValueList(content_of(values()));
  }  ///< a list with content of its own
  bool is(const ValueList& other) const {
    return content_ == other.content_;
  }  ///< the same content
  size_t use_count() const { return size_t(content_.use_count()); }

 private:
  friend class IValue;
  static std::shared_ptr<Content> content_of(std::vector<IValue> values) {
    return std::make_shared<Content>(std::move(values), detail::kind_of<T>);
  }
  explicit ValueList(std::shared_ptr<Content> content) : content_(std::move(content)) {}
  std::vector<IValue>& values() const { return content_->values; }

  std::shared_ptr<Content> content_;
};
using GenericList = ValueList<IValue>;

}  // namespace hearth
