#pragma once

#include <complex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "functors/hd.h"
#include "hearth/device.h"
#include "hearth/dtype.h"
#include "hearth/scalar.h"
#include "hearth/shape.h"

namespace hearth {

using detail::Dims;

/// The value of an op's argument, for printing, recording or exporting a call; monostate if absent.
using Argument =
    std::variant<std::monostate, bool, int64_t, double, std::complex<double>, std::vector<int64_t>,
                 std::vector<double>, ScalarType, Device, std::string>;
using NamedArgument = std::pair<std::string_view, Argument>;
using Arguments = std::vector<NamedArgument>;

/// A set of dimensions: bit d stands for dimension d.
struct DimSet {
  uint32_t bits = 0;
};

/// Formats the arguments in Python's notation: "dim=[0, 2], keepdim=True".
std::string as_text(const Arguments& arguments);

namespace detail {

inline Argument argument(bool value) { return value; }
inline Argument argument(double value) { return value; }
inline Argument argument(ScalarType value) {
  return value == ScalarType::Undefined ? Argument() : Argument(value);
}
Argument argument(DimSet value);
inline Argument argument(Device value) { return value; }
inline Argument argument(const std::string& value) { return value; }
inline Argument argument(const Dims& value) {
  return std::vector<int64_t>(value.begin(), value.end());
}
inline Argument argument(const std::vector<int64_t>& value) { return value; }
inline Argument argument(const std::vector<double>& value) { return value; }
Argument argument(const Scalar& value);
inline Argument argument(const Factor& value) {
  if (double(value.integer) == value.real) return int64_t(value.integer);
  return value.real;
}
inline Argument argument(const ComplexFactor& value) {
  if (value.imag != 0) return std::complex<double>(value.real, value.imag);
  return argument(static_cast<const Factor&>(value));
}
template <class T>
requires(std::is_integral_v<T> || (std::is_enum_v<T> && !std::is_same_v<T, ScalarType>)) Argument
    argument(T value) {
  return static_cast<int64_t>(value);
}
template <class T>
Argument argument(const std::optional<T>& value) {
  return value ? argument(*value) : Argument();
}

/// Collects the members that HEARTH_FIELDS lists. A member that has HEARTH_FIELDS, too, is replaced
/// by its own members.
struct ArgumentCollector {
  Arguments list;
  template <class T>
  void operator()(const char* name, int length, const T& value) {
    const std::string_view text(name, size_t(length));
    if constexpr (requires { value.fields(*this); })
      value.fields(*this);
    else
      list.emplace_back(text.substr(text.rfind('.') + 1), argument(value));
  }
};

}  // namespace detail

/// Returns the arguments that a struct lists with HEARTH_FIELDS.
template <class Args>
Arguments arguments_of(const void* args) {
  detail::ArgumentCollector collector;
  if constexpr (!std::is_empty_v<Args>) {
    static_assert(
        requires(const Args& a) { a.fields(collector); },
        "an op's Args must list its members: HEARTH_FIELDS(dim, keepdim)");
    static_cast<const Args*>(args)->fields(collector);
  }
  return std::move(collector.list);
}

}  // namespace hearth
