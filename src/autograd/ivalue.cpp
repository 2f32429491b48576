#include "hearth/ivalue.h"

namespace hearth {

namespace {

constexpr const char* kKinds[] = {"None",   "Tensor",  "Bool",       "Int",       "Double",
                                  "String", "IntList", "DoubleList", "TensorList"};

}  // namespace

const char* IValue::tagKind() const { return kKinds[value_.index()]; }

template <class T>
const T& IValue::get() const {
  const T* value = std::get_if<T>(&value_);
  HEARTH_CHECK(value, "Expected ", kKinds[Value(T()).index()], " but got ", tagKind());
  return *value;
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
