#include "hearth/dtype.h"

#include <atomic>

#include "hearth/options.h"

namespace hearth {

namespace {

struct Names {
  const char *hearth, *python, *cpp_type;
};

Names names_of(ScalarType type) {
  switch (type) {
    case kByte: return {"Byte", "uint8", "unsigned char"};
    case kChar: return {"Char", "int8", "signed char"};
    case kShort: return {"Short", "int16", "short int"};
    case kInt: return {"Int", "int32", "int"};
    case kLong: return {"Long", "int64", "long int"};
    case kHalf: return {"Half", "float16", "c10::Half"};
    case kFloat: return {"Float", "float32", "float"};
    case kDouble: return {"Double", "float64", "double"};
    case kComplexFloat: return {"ComplexFloat", "complex64", "c10::complex<float>"};
    case kComplexDouble: return {"ComplexDouble", "complex128", "c10::complex<double>"};
    case kBool: return {"Bool", "bool", "bool"};
    case kBFloat16: return {"BFloat16", "bfloat16", "c10::BFloat16"};
    default: return {"Undefined", "undefined", "nullptr (uninitialized)"};
  }
}

std::atomic<ScalarType> default_dtype{kFloat};

}  // namespace

const char* by_name::name_of(ScalarType type) { return names_of(type).hearth; }
const char* by_name::python_name_of(ScalarType type) { return names_of(type).python; }
const char* TypeMeta::name() const { return names_of(type_).cpp_type; }

ScalarType get_default_dtype_as_scalartype() {
  return default_dtype.load(std::memory_order_relaxed);
}
void set_default_dtype(ScalarType type) {
  HEARTH_CHECK(element_size(type) > 0, "ScalarType ", int(type),
               " is not a dtype of tensor elements");
  default_dtype.store(type, std::memory_order_relaxed);
}

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) return ScalarType::Undefined;
  if (a == kBool) return b;
  if (b == kBool) return a;
  if (is_complex(a) || is_complex(b))
    return to_complex(to_real(a) == kDouble || to_real(b) == kDouble ? kDouble : kFloat);
  if (is_floating_point(a) && is_floating_point(b)) {
    if (a == kDouble || b == kDouble) return kDouble;
    return kFloat;  // float32 with a half type, or the two half types
  }
  if (is_floating_point(a)) return a;
  if (is_floating_point(b)) return b;
  // uint8 with a signed type gives a signed type that holds both.
  if (a == kByte) return b == kChar ? kShort : b;
  if (b == kByte) return a == kChar ? kShort : a;
  return a > b ? a : b;  // signed types, numbered by their size
}

bool can_cast(ScalarType from, ScalarType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating_point(from) && is_integral(to, false)) return false;
  return from == kBool || to != kBool;
}

TensorOptions TensorOptions::merge_in(const TensorOptions& other) const {
  TensorOptions merged = *this;
  if (other.has_dtype_) merged.set_dtype(other.dtype_);
  if (other.has_device_) merged.set_device(other.device_);
  if (other.has_format_) merged = merged.memory_format(other.format_);
  if (other.has_requires_grad_) merged = merged.requires_grad(other.requires_grad_);
  if (other.has_pinned_) merged = merged.pinned_memory(other.pinned_);
  merged.has_layout_ |= other.has_layout_;
  return merged;
}

std::string as_text(const TensorOptions& options) {
  const auto mark = [](bool is_set) { return is_set ? "" : " (default)"; };
  const auto format = options.memory_format_opt();
  return detail::str("TensorOptions(dtype=", options.dtype().name(), mark(options.has_dtype()),
                     ", device=", options.device(), mark(options.has_device()),
                     ", layout=", options.layout(), mark(options.has_layout()),
                     ", requires_grad=", options.requires_grad(), mark(options.has_requires_grad()),
                     ", pinned_memory=", options.pinned_memory(), mark(options.has_pinned_memory()),
                     ", memory_format=", format ? to_string(*format) : "(nullopt)", ")");
}

}  // namespace hearth
