#pragma once

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <vector>

#include "c10/namespaces.h"
#include "hearth/tensor_literal.h"

namespace hearth::detail {
/// LibTorch's name for the argument of torch::tensor.
using TensorDataContainer = TensorLiteral;

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const TensorLiteral& values) {
  return out << values.str();
}
}  // namespace hearth::detail

namespace at {

// at::tensor keeps the elements' C++ type; torch::tensor converts integers to int64 and
// floating-point numbers to the default dtype. If a program uses both namespaces, overload
// resolution prefers these templates, which need no conversion of the argument, as with LibTorch.
template <class T>
concept Element = requires {
  hearth::detail::DtypeOf<T>::value;
};

template <Element T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  return hearth::detail::tensor_of(values, options, hearth::detail::LiteralDtype::kAsInCpp);
}
/// One dimension of size 1, unlike torch::tensor(value).
template <Element T>
Tensor tensor(T value, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(&value, 1), options);
}
template <Element T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}
template <Element T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}

}  // namespace at
