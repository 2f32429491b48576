#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "hearth/tensor.h"

namespace hearth {

template <class Key, class Value>
class Dict;
template <class T>
class ValueList;
namespace detail {
class DictContent;
}
namespace ivalue {
class Tuple;
}

/// A value of one of a few types, for archives, files of PyTorch and AutogradContext::saved_data.
/// Dict, ValueList and ivalue::Tuple are in ivalue_containers.h.
class HEARTH_API IValue {
 public:
  IValue() = default;
  IValue(Tensor value);
  IValue(bool value);
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  IValue(T value) : value_(make(static_cast<int64_t>(value))) {}
  template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  IValue(T value) : value_(make(static_cast<double>(value))) {}
  IValue(std::string value);
  IValue(const char* value);
  IValue(const Scalar& value);
  IValue(std::nullopt_t) {}
  template <class T>
  IValue(std::optional<T> value) : IValue(value ? IValue(std::move(*value)) : IValue()) {}
  IValue(std::vector<int64_t> value);
  IValue(IntArrayRef value);
  IValue(std::vector<double> value);
  IValue(std::vector<Tensor> value);
  IValue(std::vector<IValue> value);  ///< a list of values of any kind
  IValue(Device value);
  IValue(std::shared_ptr<const ivalue::Tuple> value);
  template <class... Elements>
  IValue(const std::tuple<Elements...>& value);
  template <class Key, class Mapped>
  IValue(const Dict<Key, Mapped>& value);  ///< shares the content
  template <class T>
  IValue(const ValueList<T>& value);  ///< shares the content

  bool isNone() const { return !value_; }  ///< whether it has no value
  bool isTensor() const;
  bool isBool() const;
  bool isInt() const;
  bool isDouble() const;
  bool isString() const;
  bool isIntList() const;
  bool isDoubleList() const;
  bool isTensorList() const;
  bool isList() const;  ///< whether it is a list of any kind
  bool isTuple() const;
  bool isGenericDict() const;
  bool isDevice() const;
  bool isScalar() const { return isBool() || isInt() || isDouble(); }  ///< a number or a bool

  /// The value; throws "Expected Tensor but got Double" if it has another type.
  Tensor toTensor() const;
  bool toBool() const;
  int64_t toInt() const;
  double toDouble() const;
  const std::string& toStringRef() const;
  std::string_view toStringView() const { return toStringRef(); }
  Scalar toScalar() const;
  /// The elements of a list; throws if one has another type.
  std::vector<int64_t> toIntVector() const;
  std::vector<double> toDoubleVector() const;
  std::vector<Tensor> toTensorVector() const;
  ValueList<IValue> toList() const;  ///< a copy if the list is one of ints, doubles or tensors
  Dict<IValue, IValue> toGenericDict() const;
  std::shared_ptr<const ivalue::Tuple> toTuple() const;
  const ivalue::Tuple& toTupleRef() const;
  Device toDevice() const;
  /// The value as a T: toInt() for int64_t, and so on.
  template <class T>
  T to() const;
  const char* tagKind() const;  ///< the type's name, such as "Int"

 private:
  struct Value;
  explicit IValue(std::shared_ptr<detail::DictContent> content);
  explicit IValue(std::shared_ptr<std::vector<IValue>> content);
  template <class T>
  std::vector<T> to_vector() const;
  template <class T>
  static std::shared_ptr<const Value> make(T value);
  template <class T>
  bool holds() const;
  template <class T>
  const T& get() const;

  std::shared_ptr<const Value> value_;  // null for None
};

template <class T>
T IValue::to() const {
  if constexpr (std::is_same_v<T, IValue>)
    return *this;
  else if constexpr (std::is_same_v<T, Tensor>)
    return toTensor();
  else if constexpr (std::is_same_v<T, bool>)
    return toBool();
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(toInt());
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(toDouble());
  else if constexpr (std::is_same_v<T, Scalar>)
    return toScalar();
  else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
    return toIntVector();
  else if constexpr (std::is_same_v<T, std::vector<double>>)
    return toDoubleVector();
  else if constexpr (std::is_same_v<T, std::vector<Tensor>>)
    return toTensorVector();
  else
    return T(toStringRef());
}

/// Prints the value as LibTorch does: "None", "True", "2.", "[1, 2]", "{a: 1}"; strings without
/// quotes.
HEARTH_API std::ostream& operator<<(std::ostream& out, const IValue& value);

}  // namespace hearth
