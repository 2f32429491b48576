#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "hearth/tensor.h"

namespace hearth {

namespace detail {

/// An argument such as 3, {1, 2}, {{1.5, 2}, {3, 4}} or a vector. It refers to the caller's
/// elements, so use it only as a function argument.
class HEARTH_API TensorLiteral {
 public:
  /// No elements, written as {}.
  TensorLiteral() : sizes_{0}, dtype_(get_default_dtype()), kind_(Kind::kList) {}
  TensorLiteral(std::initializer_list<TensorLiteral> parts);
#define HEARTH_LITERAL(type, Name)                                                              \
  TensorLiteral(type value) : dtype_(ScalarType::Name), kind_(Kind::kNumber), number_(value) {} \
  TensorLiteral(ArrayRef<type> values)                                                          \
      : sizes_{int64_t(values.size())},                                                         \
        dtype_(ScalarType::Name),                                                               \
        kind_(Kind::kArray),                                                                    \
        data_(values.data()) {}
  HEARTH_DTYPES(HEARTH_LITERAL)
#undef HEARTH_LITERAL
  template <class T, class A>
  TensorLiteral(const std::vector<T, A>& values) : TensorLiteral(ArrayRef<T>(values)) {}

  IntArrayRef sizes() const { return sizes_; }
  ScalarType dtype() const { return dtype_; }
  std::string str() const;  ///< "{{1, 2}, {3, 4}}"
  /// Writes the elements, converted to `type`, to the array `to` and returns its end.
  char* write(char* to, ScalarType type) const;

 private:
  enum class Kind : int8_t { kNumber, kList, kArray };
  hearth::detail::Dims sizes_;
  ScalarType dtype_;
  Kind kind_;
  Scalar number_;
  std::initializer_list<TensorLiteral> parts_;
  const void* data_ = nullptr;
};

/// Rule for the dtype of a literal's tensor if the options have none.
enum class LiteralDtype : int8_t {
  kAsInPython,  // integers become int64, floating-point numbers the default dtype
  kAsInCpp,     // the dtype of the elements' C++ type
};
HEARTH_API Tensor tensor_of(const TensorLiteral& values, const TensorOptions& options,
                            LiteralDtype rule);

}  // namespace detail

/// A tensor of the given elements; each level of braces is a dimension: tensor({{1, 2}, {3, 4}}).
HEARTH_API Tensor tensor(const detail::TensorLiteral& values, const TensorOptions& options = {});

}  // namespace hearth
