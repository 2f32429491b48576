#include "hearth/ivalue.h"

#include <cmath>
#include <ostream>
#include <utility>
#include <variant>

namespace hearth {

namespace {

constexpr const char* kKinds[] = {"None",   "Tensor",  "Bool",       "Int",       "Double",
                                  "String", "IntList", "DoubleList", "TensorList"};
using Variant = std::variant<std::monostate, Tensor, bool, int64_t, double, std::string,
                             std::vector<int64_t>, std::vector<double>, std::vector<Tensor>>;

}  // namespace

struct IValue::Value {
  Variant variant;
};

template <class T>
std::shared_ptr<const IValue::Value> IValue::make(T value) {
  return std::make_shared<const Value>(Value{std::move(value)});
}
template HEARTH_API std::shared_ptr<const IValue::Value> IValue::make(int64_t value);
template HEARTH_API std::shared_ptr<const IValue::Value> IValue::make(double value);

IValue::IValue(Tensor value) : value_(make(std::move(value))) {}
IValue::IValue(bool value) : value_(make(value)) {}
IValue::IValue(std::string value) : value_(make(std::move(value))) {}
IValue::IValue(const char* value) : IValue(std::string(value)) {}
IValue::IValue(const Scalar& value)
    : value_(value.isBoolean()         ? make(value.toBool())
             : value.isIntegral(false) ? make(value.toLong())
                                       : make(value.toDouble())) {}
IValue::IValue(std::vector<int64_t> value) : value_(make(std::move(value))) {}
IValue::IValue(IntArrayRef value) : IValue(value.vec()) {}
IValue::IValue(std::vector<double> value) : value_(make(std::move(value))) {}
IValue::IValue(std::vector<Tensor> value) : value_(make(std::move(value))) {}

template <class T>
bool IValue::holds() const {
  return value_ && std::holds_alternative<T>(value_->variant);
}

bool IValue::isTensor() const { return holds<Tensor>(); }
bool IValue::isBool() const { return holds<bool>(); }
bool IValue::isInt() const { return holds<int64_t>(); }
bool IValue::isDouble() const { return holds<double>(); }
bool IValue::isString() const { return holds<std::string>(); }
bool IValue::isIntList() const { return holds<std::vector<int64_t>>(); }
bool IValue::isDoubleList() const { return holds<std::vector<double>>(); }
bool IValue::isTensorList() const { return holds<std::vector<Tensor>>(); }

const char* IValue::tagKind() const { return kKinds[value_ ? value_->variant.index() : 0]; }

template <class T>
const T& IValue::get() const {
  HEARTH_CHECK(holds<T>(), "Expected ", kKinds[Variant(T()).index()], " but got ", tagKind());
  return *std::get_if<T>(&value_->variant);
}

Tensor IValue::toTensor() const { return get<Tensor>(); }
bool IValue::toBool() const { return get<bool>(); }
int64_t IValue::toInt() const { return get<int64_t>(); }
double IValue::toDouble() const { return get<double>(); }
const std::string& IValue::toStringRef() const { return get<std::string>(); }
Scalar IValue::toScalar() const {
  if (isBool()) return toBool();
  if (isInt()) return toInt();
  return toDouble();
}
std::vector<int64_t> IValue::toIntVector() const { return get<std::vector<int64_t>>(); }
std::vector<double> IValue::toDoubleVector() const { return get<std::vector<double>>(); }
std::vector<Tensor> IValue::toTensorVector() const { return get<std::vector<Tensor>>(); }

namespace {

void print(std::ostream& out, bool value) { out << (value ? "True" : "False"); }
void print(std::ostream& out, int64_t value) { out << value; }
void print(std::ostream& out, const std::string& value) { out << value; }
void print(std::ostream& out, const Tensor& value) { out << value; }

/// Prints whole numbers with a point: "2.".
void print(std::ostream& out, double value) {
  const std::string text = detail::str(value);
  const bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
  out << text << (is_whole ? "." : "");
}

template <class T>
void print(std::ostream& out, const std::vector<T>& values) {
  out << '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out << ", ";
    print(out, values[i]);
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const IValue& value) {
  if (value.isTensor())
    print(out, value.toTensor());
  else if (value.isBool())
    print(out, value.toBool());
  else if (value.isInt())
    print(out, value.toInt());
  else if (value.isDouble())
    print(out, value.toDouble());
  else if (value.isString())
    print(out, value.toStringRef());
  else if (value.isIntList())
    print(out, value.toIntVector());
  else if (value.isDoubleList())
    print(out, value.toDoubleVector());
  else if (value.isTensorList())
    print(out, value.toTensorVector());
  else
    out << "None";
  return out;
}

}  // namespace hearth
