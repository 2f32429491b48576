#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "hearth/tensor.h"

namespace hearth {

/// A value of one of a few types: what a custom function keeps beside tensors.
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
  IValue(std::vector<int64_t> value);
  IValue(IntArrayRef value);
  IValue(std::vector<double> value);
  IValue(std::vector<Tensor> value);

  bool isNone() const { return !value_; }
  bool isTensor() const;
  bool isBool() const;
  bool isInt() const;
  bool isDouble() const;
  bool isString() const;
  bool isIntList() const;
  bool isDoubleList() const;
  bool isTensorList() const;

  /// The value; "Expected Int but got Double" if it is of another type.
  Tensor toTensor() const;
  bool toBool() const;
  int64_t toInt() const;
  double toDouble() const;
  const std::string& toStringRef() const;
  std::vector<int64_t> toIntVector() const;
  std::vector<double> toDoubleVector() const;
  std::vector<Tensor> toTensorVector() const;
  /// "Int".
  const char* tagKind() const;

 private:
  struct Value;
  template <class T>
  static std::shared_ptr<const Value> make(T value);
  template <class T>
  bool holds() const;
  template <class T>
  const T& get() const;

  std::shared_ptr<const Value> value_;  // null: none
};

}  // namespace hearth
