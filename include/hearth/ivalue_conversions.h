#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/ivalue_containers.h"

// IValue::toString(), and IValue::to() for containers.
namespace hearth {

namespace ivalue {

/// The string of an IValue, as a pointer to it.
class ConstantString {
 public:
  explicit ConstantString(IValue value) : value_(std::move(value)) {}
  const std::string& string() const { return value_.toStringRef(); }
  const ConstantString* operator->() const { return this; }

 private:
  IValue value_;
};

}  // namespace ivalue

inline ivalue::ConstantString IValue::toString() const { return ivalue::ConstantString(*this); }

namespace detail {

template <class T>
struct ValueAs<std::optional<T>> {
  static std::optional<T> of(const IValue& value) { return value.toOptional<T>(); }
};
template <class T>
struct ValueAs<std::vector<T>> {
  static std::vector<T> of(const IValue& value) {
    std::vector<T> result;
    for (const IValue& item : value.toList()) result.push_back(item.to<T>());
    return result;
  }
};
template <class T>
struct ValueAs<ValueList<T>> {
  static ValueList<T> of(const IValue& value) { return value.shared_list<T>(); }
};
template <class Key, class Mapped>
struct ValueAs<Dict<Key, Mapped>> {
  static Dict<Key, Mapped> of(const IValue& value) { return value.shared_dict<Key, Mapped>(); }
};
template <class Key, class Mapped>
struct ValueAs<std::unordered_map<Key, Mapped>> {
  static std::unordered_map<Key, Mapped> of(const IValue& value) {
    std::unordered_map<Key, Mapped> result;
    for (const auto& item : value.toGenericDict())
      result.emplace(item.key().template to<Key>(), item.value().template to<Mapped>());
    return result;
  }
};
template <class... T>
struct ValueAs<std::tuple<T...>> {
  static std::tuple<T...> of(const IValue& value) {
    const std::vector<IValue>& items = value.toTupleRef().elements();
    HEARTH_CHECK(items.size() == sizeof...(T), "Expected a tuple of ", sizeof...(T),
                 " elements but got ", items.size());
    return convert(items, std::index_sequence_for<T...>());
  }

 private:
  template <size_t... i>
  static std::tuple<T...> convert(const std::vector<IValue>& items, std::index_sequence<i...>) {
    return {items[i].template to<T>()...};
  }
};

}  // namespace detail

}  // namespace hearth
