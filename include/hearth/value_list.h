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

/// The elements of a ValueList.
struct ListContent {
  std::vector<IValue> values;
  ListKind kind = ListKind::kAny;
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
    Element(const Element&) = delete;
    operator T() const { return value_.template to<T>(); }
    const IValue& get() const { return value_; }
    const Element& operator=(const T& value) const {
      value_ = IValue(value);
      return *this;
    }
    const Element& operator=(const Element& other) const {
      value_ = other.value_;
      return *this;
    }
    friend void swap(const Element& a, const Element& b) { std::swap(a.value_, b.value_); }

   private:
    friend class ValueList;
    explicit Element(IValue& value) : value_(value) {}
    IValue& value_;
  };
  /// An Element, or for lists of any values, the IValue itself.
  using Reference = std::conditional_t<std::is_same_v<T, IValue>, IValue&, Element>;
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Reference;

    Iterator() = default;
    Reference operator*() const { return Reference(*item_); }
    Reference operator[](std::ptrdiff_t offset) const { return *(*this + offset); }
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
    friend Iterator operator+(std::ptrdiff_t offset, Iterator from) { return from + offset; }
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
  Reference operator[](size_t index) { return Reference(values().at(index)); }
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
  std::vector<T> vec() const {
    std::vector<T> result;
    result.reserve(size());
    for (const IValue& value : values()) result.push_back(value.template to<T>());
    return result;
  }
  /// A list with content of its own.
  ValueList copy() const {
    return ValueList(std::make_shared<Content>(Content{values(), content_->kind}));
  }
  bool is(const ValueList& other) const { return content_ == other.content_; }  ///< same content
  size_t use_count() const { return size_t(content_.use_count()); }
  friend bool operator==(const ValueList& a, const ValueList& b) { return IValue(a) == IValue(b); }

 private:
  friend class IValue;
  static std::shared_ptr<Content> content_of(std::vector<IValue> values) {
    return std::make_shared<Content>(Content{std::move(values), detail::kind_of<T>});
  }
  explicit ValueList(std::shared_ptr<Content> content) : content_(std::move(content)) {}
  std::vector<IValue>& values() const { return content_->values; }

  std::shared_ptr<Content> content_;
};
using GenericList = ValueList<IValue>;

template <class T>
IValue::IValue(const ValueList<T>& value) : IValue(value.content_) {}
template <class T>
ValueList<T> IValue::shared_list() const {
  return ValueList<T>(list_content());
}

}  // namespace hearth
