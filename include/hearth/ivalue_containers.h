#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "hearth/ivalue.h"

namespace hearth {

namespace detail {

/// The entries of a Dict in the order of insertion.
class HEARTH_API DictContent {
 public:
  using Item = std::pair<IValue, IValue>;

  DictContent();
  const std::vector<Item>& items() const { return items_; }
  const Item* find(const IValue& key) const;  ///< null if there is none
  /// Adds an entry and returns true; if the key exists, returns false and changes its value only if
  /// `replace`.
  bool insert(IValue key, IValue value, bool replace);
  bool erase(const IValue& key);

 private:
  std::vector<Item> items_;
  struct Index;
  std::shared_ptr<Index> index_;
};

}  // namespace detail

/// A dictionary in an IValue, in the order of insertion. Copies share the content, as LibTorch's
/// do. Keys are strings, ints, doubles and bools.
template <class Key, class Value>
class Dict {
  using Content = detail::DictContent;

 public:
  /// A key and its value.
  class Entry {
   public:
    Key key() const { return item_->first.template to<Key>(); }
    Value value() const { return item_->second.template to<Value>(); }

   private:
    friend class Dict;
    explicit Entry(const Content::Item* item) : item_(item) {}
    const Content::Item* item_;
  };
  /// Iterates over the entries in order.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    reference operator*() const { return entry_; }
    pointer operator->() const { return &entry_; }
    Iterator& operator++() {
      ++entry_.item_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return entry_.item_ == other.entry_.item_; }

   private:
    friend class Dict;
    explicit Iterator(const Content::Item* item) : entry_(item) {}
    Entry entry_;
  };

  Dict() : content_(std::make_shared<Content>()) {}

  size_t size() const { return content_->items().size(); }
  bool empty() const { return size() == 0; }
  Iterator begin() const { return Iterator(content_->items().data()); }
  Iterator end() const { return Iterator(content_->items().data() + size()); }
  bool contains(const Key& key) const { return content_->find(IValue(key)); }
  Iterator find(const Key& key) const {
    const auto* item = content_->find(IValue(key));
    return item ? Iterator(item) : end();
  }
  /// The value of an existing key.
  Value at(const Key& key) const {
    const auto* item = content_->find(IValue(key));
    HEARTH_CHECK_AS(IndexError, item, "Argument passed to at() was not in the map.");
    return Entry(item).value();
  }
  /// Adds an entry unless the key exists; returns whether it was added.
  bool insert(const Key& key, const Value& value) const {
    return content_->insert(IValue(key), IValue(value), false);
  }
  void insert_or_assign(const Key& key, const Value& value) const {
    content_->insert(IValue(key), IValue(value), true);
  }
  size_t erase(const Key& key) const { return content_->erase(IValue(key)); }

 private:
  template <class, class>
  friend class Dict;
  friend class IValue;
  explicit Dict(std::shared_ptr<Content> content) : content_(std::move(content)) {}

  std::shared_ptr<Content> content_;
};
using GenericDict = Dict<IValue, IValue>;

/// A list in an IValue. Copies share the content, as LibTorch's do.
template <class T>
class ValueList {
  using Content = std::vector<IValue>;

 public:
  ValueList() : content_(std::make_shared<Content>()) {}

  size_t size() const { return content_->size(); }
  bool empty() const { return content_->empty(); }
  T get(size_t index) const { return content_->at(index).template to<T>(); }
  T operator[](size_t index) const { return get(index); }
  void push_back(const T& value) const { content_->push_back(IValue(value)); }
  std::vector<T> vec() const {
    std::vector<T> values;
    for (const IValue& item : *content_) values.push_back(item.template to<T>());
    return values;
  }

 private:
  friend class IValue;
  explicit ValueList(std::shared_ptr<Content> content) : content_(std::move(content)) {}

  std::shared_ptr<Content> content_;
};
using GenericList = ValueList<IValue>;

namespace ivalue {

/// A tuple in an IValue.
class HEARTH_API Tuple {
 public:
  explicit Tuple(std::vector<IValue> elements);
  static std::shared_ptr<const Tuple> create(std::vector<IValue> elements);
  template <class... Elements>
  static std::shared_ptr<const Tuple> create(Elements... elements) {
    return create(std::vector<IValue>{IValue(std::move(elements))...});
  }
  const std::vector<IValue>& elements() const { return elements_; }
  size_t size() const { return elements_.size(); }

 private:
  std::vector<IValue> elements_;
};

}  // namespace ivalue

template <class... Elements>
IValue::IValue(const std::tuple<Elements...>& value)
    : IValue(std::apply(
          [](const Elements&... elements) { return ivalue::Tuple::create(elements...); }, value)) {}
template <class Key, class Mapped>
IValue::IValue(const Dict<Key, Mapped>& value) : IValue(value.content_) {}
template <class T>
IValue::IValue(const ValueList<T>& value) : IValue(value.content_) {}

}  // namespace hearth
