#pragma once

#include <string_view>
#include <utility>

#include "ATen/core/Dict.h"
#include "ATen/core/List.h"
#include "hearth/ivalue_conversions.h"

namespace hearth {

/// Whether the values have one type and are equal; tensors, if their elements are.
inline bool operator==(const IValue& a, const IValue& b);

template <class T>
bool operator==(const ValueList<T>& a, const ValueList<T>& b) {
  return a.is(b) || IValue(a).toList().vec() == IValue(b).toList().vec();
}
template <class Key, class Value>
bool operator==(const Dict<Key, Value>& a, const Dict<Key, Value>& b) {
  if (a.size() != b.size()) return false;
  for (const auto& item : a)
    if (!b.contains(item.key()) || !(IValue(b.at(item.key())) == IValue(item.value())))
      return false;
  return true;
}

inline bool operator==(const IValue& a, const IValue& b) {
  if (std::string_view(a.tagKind()) != b.tagKind()) return false;
  if (a.isTensor()) return a.toTensor().equal(b.toTensor());
  if (a.isString()) return a.toStringRef() == b.toStringRef();
  if (a.isBool()) return a.toBool() == b.toBool();
  if (a.isInt()) return a.toInt() == b.toInt();
  if (a.isDouble()) return a.toDouble() == b.toDouble();
  if (a.isComplexDouble()) return a.toComplexDouble() == b.toComplexDouble();
  if (a.isDevice()) return a.toDevice() == b.toDevice();
  if (a.isGenerator()) return a.toGenerator() == b.toGenerator();
  if (a.isList()) return a.toList() == b.toList();
  if (a.isGenericDict()) return a.toGenericDict() == b.toGenericDict();
  return a.isNone() || a.toTupleRef().elements() == b.toTupleRef().elements();
}

namespace ivalue {
template <class T>
IValue from(T&& value) {
  return IValue(std::forward<T>(value));
}
}  // namespace ivalue

}  // namespace hearth
