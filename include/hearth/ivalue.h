#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/generator.h"
#include "hearth/small_vector.h"
#include "hearth/tensor.h"

namespace hearth {

template <class Key, class Value>
class Dict;
template <class T>
class ValueList;
namespace detail {
class DictContent;
struct ListContent;
struct IValueAccess;
template <class T>
struct ValueAs;  // IValue::to() for class templates

/// The type of a list's elements, of those types that IValue's functions ask for.
enum class ListKind { kAny, kBool, kInt, kDouble, kComplexDouble, kTensor };
template <class T>
inline constexpr ListKind kind_of = std::is_same_v<T, bool>              ? ListKind::kBool
                                    : std::is_same_v<T, int64_t>         ? ListKind::kInt
                                    : std::is_same_v<T, double>          ? ListKind::kDouble
                                    : std::is_same_v<T, complex<double>> ? ListKind::kComplexDouble
                                    : std::is_same_v<T, Tensor>          ? ListKind::kTensor
                                                                         : ListKind::kAny;
}  // namespace detail
namespace ivalue {
class ConstantString;
class Tuple;
}  // namespace ivalue

/// A value of one of a few types, for archives, files of PyTorch and AutogradContext::saved_data.
/// Dict, ValueList and ivalue::Tuple are in ivalue_containers.h; toString() and to() for containers
/// need ivalue_conversions.h.
class HEARTH_API IValue {
 public:
  IValue() = default;
  IValue(Tensor value);
  IValue(bool value);
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  IValue(T value) : value_(make(static_cast<int64_t>(value))) {}
  template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  IValue(T value) : value_(make(static_cast<double>(value))) {}
  /// A ScalarType, Layout or MemoryFormat, as its number.
  template <class T, std::enable_if_t<std::is_enum_v<T>, int> = 0>
  IValue(T value) : IValue(static_cast<int64_t>(value)) {}
  IValue(complex<double> value);
  IValue(complex<float> value) : IValue(complex<double>(value)) {}
  IValue(std::string value);
  IValue(const char* value);
  IValue(const Scalar& value);
  IValue(std::nullopt_t) {}
  template <class T>
  IValue(std::optional<T> value) : IValue(value ? IValue(std::move(*value)) : IValue()) {}
  IValue(const std::vector<int64_t>& values);
  IValue(IntArrayRef values);
  IValue(const std::vector<double>& values);
  IValue(const std::vector<Tensor>& values);
  IValue(std::vector<IValue> values);  ///< a list of values of any kind
  template <class T>
  IValue(const std::vector<T>& values)
      : IValue(std::vector<IValue>(values.begin(), values.end()), detail::kind_of<T>) {}
  template <class Key, class Mapped>
  IValue(const std::unordered_map<Key, Mapped>& values)
      : IValue(dict_of({values.begin(), values.end()})) {}
  IValue(Device value);
  IValue(Generator value);
  IValue(const SymInt& value);  ///< in sym_int.h, as toSymInt()
  IValue(std::shared_ptr<const ivalue::Tuple> value);
  template <class... Elements>
  IValue(const std::tuple<Elements...>& value)
      : IValue(tuple_of(std::apply(
            [](const Elements&... elements) { return std::vector<IValue>{IValue(elements)...}; },
            value))) {}
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
  bool isBoolList() const;
  bool isComplexDoubleList() const;
  bool isList() const;  ///< whether it is a list of any kind
  bool isTuple() const;
  bool isGenericDict() const;
  bool isDevice() const;
  bool isGenerator() const;
  bool isComplexDouble() const;
  /// Whether it is a number or a bool.
  bool isScalar() const { return isBool() || isInt() || isDouble() || isComplexDouble(); }

  /// The value; throws "Expected Tensor but got Double" if it has another type.
  Tensor toTensor() const;
  bool toBool() const;
  int64_t toInt() const;
  double toDouble() const;
  const std::string& toStringRef() const;
  std::string_view toStringView() const { return toStringRef(); }
  ivalue::ConstantString toString() const;
  complex<double> toComplexDouble() const;
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }
  Layout toLayout() const { return static_cast<Layout>(toInt()); }
  MemoryFormat toMemoryFormat() const { return static_cast<MemoryFormat>(toInt()); }
  Scalar toScalar() const;
  /// The elements of a list; throws if one has another type.
  std::vector<int64_t> toIntVector() const;
  std::vector<double> toDoubleVector() const;
  std::vector<Tensor> toTensorVector() const;
  /// The list, which shares its content with the value.
  ValueList<IValue> toList() const;
  const ValueList<IValue> toListRef() const;  ///< toList()
  ValueList<bool> toBoolList() const;
  ValueList<int64_t> toIntList() const;
  ValueList<double> toDoubleList() const;
  ValueList<complex<double>> toComplexDoubleList() const;
  ValueList<Tensor> toTensorList() const;
  Dict<IValue, IValue> toGenericDict() const;
  std::shared_ptr<const ivalue::Tuple> toTuple() const;
  const ivalue::Tuple& toTupleRef() const;
  Device toDevice() const;
  Generator toGenerator() const;
  SymInt toSymInt() const;
  /// The value as a T, or nothing for None.
  template <class T>
  std::optional<T> toOptional() const {
    return isNone() ? std::nullopt : std::optional<T>(to<T>());
  }
  /// The value as a T: toInt() for int64_t, and so on.
  template <class T>
  T to() const;
  const char* tagKind() const;                  ///< the type's name, such as "Int"
  SmallVector<int64_t, 5> toDimVector() const;  ///< toIntVector(), with LibTorch's type
  /// As in Python, a == b: tensors are compared element by element, other values as a whole.
  IValue equals(const IValue& other) const;
  /// As in Python, a is b: the same tensor, list or dict, or equal values of another type.
  bool is(const IValue& other) const;
  // Kinds of values that do not exist here.
  bool isObject() const { return false; }
  bool isModule() const { return false; }
  bool isPyObject() const { return false; }
  bool isCapsule() const { return false; }
  bool isFuture() const { return false; }
  bool isRRef() const { return false; }
  bool isEnum() const { return false; }
  bool isBlob() const { return false; }
  bool isStorage() const { return false; }
  bool isStream() const { return false; }

  /// Whether the values have one type and are equal. Tensors must have one element, or be one and
  /// the same in two containers; else the comparison throws.
  HEARTH_API friend bool operator==(const IValue& a, const IValue& b);

 private:
  struct Value;
  friend struct detail::IValueAccess;
  template <class T>
  friend struct detail::ValueAs;
  template <class T>
  friend class ValueList;
  explicit IValue(std::shared_ptr<detail::DictContent> content);
  explicit IValue(std::shared_ptr<detail::ListContent> content);
  IValue(std::vector<IValue> values, detail::ListKind kind);
  static std::shared_ptr<const ivalue::Tuple> tuple_of(std::vector<IValue> elements);
  static std::shared_ptr<detail::DictContent> dict_of(
      std::vector<std::pair<IValue, IValue>> entries);
  const std::shared_ptr<detail::ListContent>& list_content() const;
  bool holds_list_of(detail::ListKind kind) const;
  template <class T>
  std::vector<T> to_vector() const;
  /// The list, whose elements must be of T.
  template <class T>
  ValueList<T> list_of(const char* name) const;
  /// The list or dict, which shares its content with the value.
  template <class T>
  ValueList<T> shared_list() const;
  template <class Key, class Mapped>
  Dict<Key, Mapped> shared_dict() const;
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
  else if constexpr (std::is_enum_v<T>)
    return static_cast<T>(toInt());
  else if constexpr (std::is_same_v<T, Device>)
    return toDevice();
  else if constexpr (std::is_same_v<T, Generator>)
    return toGenerator();
  else if constexpr (std::is_same_v<T, complex<double>>)
    return toComplexDouble();
  else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
    return toIntVector();
  else if constexpr (std::is_same_v<T, std::vector<double>>)
    return toDoubleVector();
  else if constexpr (std::is_same_v<T, std::vector<Tensor>>)
    return toTensorVector();
  else if constexpr (std::is_constructible_v<T, const std::string&>)
    return T(toStringRef());
  else
    return detail::ValueAs<T>::of(*this);
}

/// Prints the value as LibTorch does: "None", "True", "2.", "[1, 2]", "{a: 1}"; strings without
/// quotes.
HEARTH_API std::ostream& operator<<(std::ostream& out, const IValue& value);

}  // namespace hearth
