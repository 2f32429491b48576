#include "hearth/ivalue.h"

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
std::vector<int64_t> IValue::toIntVector() const { return get<std::vector<int64_t>>(); }
std::vector<double> IValue::toDoubleVector() const { return get<std::vector<double>>(); }
std::vector<Tensor> IValue::toTensorVector() const { return get<std::vector<Tensor>>(); }

}  // namespace hearth
