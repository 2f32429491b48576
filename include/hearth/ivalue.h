#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hearth/tensor.h"

namespace hearth {

/// A value of one of a few types: what a custom function keeps beside tensors.
class HEARTH_API IValue {
 public:
  IValue() = default;
  IValue(Tensor value) : value_(std::move(value)) {}
  IValue(bool value) : value_(value) {}
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  IValue(T value) : value_(static_cast<int64_t>(value)) {}
  template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  IValue(T value) : value_(static_cast<double>(value)) {}
  IValue(std::string value) : value_(std::move(value)) {}
  IValue(const char* value) : value_(std::string(value)) {}
  IValue(std::vector<int64_t> value) : value_(std::move(value)) {}
  IValue(IntArrayRef value) : value_(value.vec()) {}
  IValue(std::vector<double> value) : value_(std::move(value)) {}
  IValue(std::vector<Tensor> value) : value_(std::move(value)) {}

  bool isNone() const { return holds<std::monostate>(); }
  bool isTensor() const { return holds<Tensor>(); }
  bool isBool() const { return holds<bool>(); }
  bool isInt() const { return holds<int64_t>(); }
  bool isDouble() const { return holds<double>(); }
  bool isString() const { return holds<std::string>(); }
  bool isIntList() const { return holds<std::vector<int64_t>>(); }
  bool isDoubleList() const { return holds<std::vector<double>>(); }
  bool isTensorList() const { return holds<std::vector<Tensor>>(); }

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
  using Value = std::variant<std::monostate, Tensor, bool, int64_t, double, std::string,
                             std::vector<int64_t>, std::vector<double>, std::vector<Tensor>>;
  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  template <class T>
  const T& get() const;
  Value value_;
};

}  // namespace hearth
