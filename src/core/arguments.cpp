#include "core/arguments.h"

#include "hearth/error.h"

namespace hearth {

namespace detail {

Argument argument(const Scalar& value) {
  if (value.isBoolean()) return value.to<bool>();
  if (value.isIntegral(false)) return value.toLong();
  if (value.isComplex()) {
    const auto number = value.toComplexDouble();
    return std::complex<double>(number.real(), number.imag());
  }
  return value.toDouble();
}

Argument argument(DimSet value) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < 32; ++d)
    if (value.bits >> d & 1u) dims.push_back(d);
  return dims;
}

}  // namespace detail

namespace {

struct Printer {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::complex<double> value) const {
    return detail::str("(", value.real(), value.imag() < 0 ? "" : "+", value.imag(), "j)");
  }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::string text = "[";
    for (const T& value : values) text += (text.size() > 1 ? ", " : "") + detail::str(value);
    return text + "]";
  }
  std::string operator()(ScalarType value) const { return detail::str(name_of(value)); }
  template <class T>
  std::string operator()(const T& value) const {
    return detail::str(value);
  }
};

}  // namespace

std::string as_text(const Arguments& arguments) {
  std::string text;
  for (const auto& [name, value] : arguments)
    text += (text.empty() ? "" : ", ") + std::string(name) + "=" + std::visit(Printer(), value);
  return text;
}

}  // namespace hearth
