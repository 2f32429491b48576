#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "hearth/value_list.h"

namespace hearth {

namespace detail {

/// The entries of a Dict in the order of insertion.
class HEARTH_API DictContent {
 public:
  using Item = std::pair<IValue, IValue>;

  DictContent();
  const std::vector<Item>& items() const { return items_; }
  std::vector<Item>& items() { return items_; }
  Item* find(const IValue& key);  ///< null if there is none
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
    void setValue(const Value& value) const { item_->second = IValue(value); }

   private:
    friend class Dict;
    explicit Entry(Content::Item* item) : item_(item) {}
    Content::Item* item_;
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
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return entry_.item_ == other.entry_.item_; }

   private:
    friend class Dict;
    explicit Iterator(Content::Item* item) : entry_(item) {}
    Entry entry_;
  };
  using iterator = Iterator;

  Dict() : content_(std::make_shared<Content>()) {}
  Dict(ElementType, ElementType) : Dict() {}

  size_t size() const { return content_->items().size(); }
  bool empty() const { return size() == 0; }
  Iterator begin() const { return Iterator(content_->items().data()); }
  Iterator end() const { return Iterator(content_->items().data() + size()); }
  bool contains(const Key& key) const { return content_->find(IValue(key)); }
  Iterator find(const Key& key) const {
    Content::Item* item = content_->find(IValue(key));
    return item ? Iterator(item) : end();
  }
  /// The value of an existing key.
  Value at(const Key& key) const {
    const Content::Item* item = content_->find(IValue(key));
    HEARTH_CHECK_AS(IndexError, item, "Argument passed to at() was not in the map.");
    return item->second.template to<Value>();
  }
  /// Adds an entry unless the key exists; returns the key's entry and whether it was added.
  std::pair<Iterator, bool> insert(const Key& key, const Value& value) const {
    const bool is_new = content_->insert(IValue(key), IValue(value), false);
    return {find(key), is_new};
  }
  std::pair<Iterator, bool> insert_or_assign(const Key& key, const Value& value) const {
    const bool is_new = content_->insert(IValue(key), IValue(value), true);
    return {find(key), is_new};
  }
  size_t erase(const Key& key) const { return content_->erase(IValue(key)); }
  void erase(const Iterator& position) const { content_->erase(position.entry_.item_->first); }
  void clear() const { *content_ = Content(); }
  void reserve(size_t) const {}
  /// A dict with content of its own.
  Dict copy() const {
    Dict result;
    for (const auto& [key, value] : content_->items()) result.content_->insert(key, value, false);
    return result;
  }
  bool is(const Dict& other) const { return content_ == other.content_; }  ///< same content
  friend bool operator==(const Dict& a, const Dict& b) { return IValue(a) == IValue(b); }

 private:
  template <class, class>
  friend class Dict;
  friend class IValue;
  explicit Dict(std::shared_ptr<Content> content) : content_(std::move(content)) {}

  std::shared_ptr<Content> content_;
};
using GenericDict = Dict<IValue, IValue>;

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

template <class Key, class Mapped>
IValue::IValue(const Dict<Key, Mapped>& value) : IValue(value.content_) {}
template <class Key, class Mapped>
Dict<Key, Mapped> IValue::shared_dict() const {
  return Dict<Key, Mapped>(toGenericDict().content_);
}

}  // namespace hearth
