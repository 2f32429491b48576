#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/error.h"

namespace hearth {

/// A dictionary that keeps the order of insertion. Its error texts call a key `key_description`.
template <class Key, class Value>
class OrderedDict {
 public:
  /// A key and its value.
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    Value& operator*() { return pair_.second; }
    const Value& operator*() const { return pair_.second; }
    Value* operator->() { return &pair_.second; }
    const Value* operator->() const { return &pair_.second; }
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  explicit OrderedDict(std::string key_description = "Key")
      : key_description_(std::move(key_description)) {}
  OrderedDict(std::initializer_list<Item> items) : OrderedDict("Key") {
    reserve(items.size());
    for (const Item& item : items) insert(item.key(), item.value());
  }

  const std::string& key_description() const noexcept { return key_description_; }

  /// The first item; throws if there is none.
  Item& front() {
    check_not_empty("front");
    return items_.front();
  }
  const Item& front() const { return const_cast<OrderedDict*>(this)->front(); }
  /// The last item; throws if there is none.
  Item& back() {
    check_not_empty("back");
    return items_.back();
  }
  const Item& back() const { return const_cast<OrderedDict*>(this)->back(); }
  Item& operator[](size_t index) { return items_[checked(index)]; }
  const Item& operator[](size_t index) const { return items_[checked(index)]; }
  Value& operator[](const Key& key) { return items_[checked(key)].value(); }
  const Value& operator[](const Key& key) const { return items_[checked(key)].value(); }

  /// Pointer to the value, or null if the key is not defined.
  Value* find(const Key& key) noexcept {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &items_[found->second].value();
  }
  const Value* find(const Key& key) const noexcept {
    return const_cast<OrderedDict*>(this)->find(key);
  }
  bool contains(const Key& key) const noexcept { return find(key) != nullptr; }

  Iterator begin() { return items_.begin(); }
  ConstIterator begin() const { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator end() const { return items_.end(); }

  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  void reserve(size_t capacity) {
    index_.reserve(capacity);
    items_.reserve(capacity);
  }

  /// Appends an item; the key must be new.
  template <class K, class V>
  Value& insert(K&& key, V&& value) {
    return append(Key(std::forward<K>(key)), Value(std::forward<V>(value)));
  }
  Value& insert(Key key, Value&& value) { return append(std::move(key), std::move(value)); }
  /// Appends all items of another dictionary, whose keys must be new.
  void update(const OrderedDict& other) {
    reserve(size() + other.size());
    for (const Item& item : other) append(item.key(), item.value());
  }
  void update(OrderedDict&& other) {
    reserve(size() + other.size());
    for (Item& item : other) append(item.key(), std::move(item.value()));
  }
  /// Removes an item, which must exist.
  void erase(const Key& key) {
    const size_t position = checked(key);
    index_.erase(key);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(position));
    for (auto& entry : index_)
      if (entry.second > position) --entry.second;
  }
  void clear() {
    index_.clear();
    items_.clear();
  }

  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const {
    return collect<Key>([](const Item& item) -> const Key& { return item.key(); });
  }
  std::vector<Value> values() const {
    return collect<Value>([](const Item& item) -> const Value& { return item.value(); });
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    return collect<std::pair<Key, Value>>([](const Item& item) -> auto& { return item.pair(); });
  }

  friend bool operator==(const OrderedDict& a, const OrderedDict& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!(a.items_[i].pair() == b.items_[i].pair())) return false;
    return true;
  }

 private:
  Value& append(Key key, Value value) {
    HEARTH_CHECK(!contains(key), key_description_, " '", key, "' already defined");
    index_.emplace(key, items_.size());
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  void check_not_empty(const char* accessor) const {
    HEARTH_CHECK(!items_.empty(), "Called ", accessor, "() on an empty OrderedDict");
  }
  size_t checked(size_t index) const {
    HEARTH_CHECK(index < items_.size(), "Index ", index, " is out of bounds");
    return index;
  }
  size_t checked(const Key& key) const {
    const auto found = index_.find(key);
    HEARTH_CHECK(found != index_.end(), key_description_, " '", key, "' is not defined");
    return found->second;
  }
  template <class T, class Get>
  std::vector<T> collect(Get get) const {
    std::vector<T> result;
    result.reserve(items_.size());
    for (const Item& item : items_) result.push_back(get(item));
    return result;
  }

  std::unordered_map<Key, size_t> index_;
  std::vector<Item> items_;
  std::string key_description_;
};

}  // namespace hearth
