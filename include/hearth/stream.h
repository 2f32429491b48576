#pragma once

#include <iosfwd>
#include <string>

#include "hearth/half.h"
#include "hearth/options.h"
#include "hearth/scalar.h"
#include "hearth/shape.h"

// Stream output of dtypes, devices, numbers and lists; templates, which do not need <ostream>.
namespace hearth {

/// The C++ type's name: "float", "long int".
inline std::string as_text(TypeMeta type) { return type.name(); }

#define HEARTH_STREAM(Type)                                                           \
  template <class Traits>                                                             \
  std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, \
                                               Type value) {                          \
    return out << as_text(value);                                                     \
  }
HEARTH_STREAM(ScalarType)
HEARTH_STREAM(TypeMeta)
HEARTH_STREAM(Device)
HEARTH_STREAM(DeviceType)
HEARTH_STREAM(Layout)
HEARTH_STREAM(MemoryFormat)
HEARTH_STREAM(const Scalar&)
HEARTH_STREAM(const TensorOptions&)
#undef HEARTH_STREAM

/// Prints a list: "[2, 3]".
template <class Traits, class T>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             ArrayRef<T> values) {
  out << '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out << ", ";
    out << values[i];
  }
  return out << ']';
}

/// Prints a complex number: "(1,2)".
template <class Traits, class T>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             complex<T> value) {
  return out << '(' << value.real() << ',' << value.imag() << ')';
}

}  // namespace hearth
