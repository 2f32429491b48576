#include "hearth/dtype.h"

#include <atomic>

#include "hearth/options.h"

namespace hearth {

namespace {

struct Names {
  const char *python, *cpp_type;
};

/// The names that differ from the ScalarType's.
Names names_of(ScalarType type) {
  switch (type) {
    case kByte: return {"uint8", "unsigned char"};
    case kChar: return {"int8", "signed char"};
    case kShort: return {"int16", "short int"};
    case kInt: return {"int32", "int"};
    case kLong: return {"int64", "long int"};
    case kHalf: return {"float16", "c10::Half"};
    case kFloat: return {"float32", "float"};
    case kDouble: return {"float64", "double"};
    case kComplexHalf: return {"complex32", "c10::complex<c10::Half>"};
    case kComplexFloat: return {"complex64", "c10::complex<float>"};
    case kComplexDouble: return {"complex128", "c10::complex<double>"};
    case kBool: return {"bool", "bool"};
    case kQInt8: return {"qint8", "c10::qint8"};
    case kQUInt8: return {"quint8", "c10::quint8"};
    case kQInt32: return {"qint32", "c10::qint32"};
    case kBFloat16: return {"bfloat16", "c10::BFloat16"};
    case kQUInt4x2: return {"quint4x2", "c10::quint4x2"};
    case kQUInt2x4: return {"quint2x4", "c10::quint2x4"};
    case kBits1x8: return {"bits1x8", "c10::bits1x8"};
    case kBits2x4: return {"bits2x4", "c10::bits2x4"};
    case kBits4x2: return {"bits4x2", "c10::bits4x2"};
    case kBits8: return {"bits8", "c10::bits8"};
    case kBits16: return {"bits16", "c10::bits16"};
    case kUInt16: return {"uint16", "short unsigned int"};
    case kUInt32: return {"uint32", "unsigned int"};
    case kUInt64: return {"uint64", "long unsigned int"};
    case kFloat8_e5m2: return {"float8_e5m2", "c10::Float8_e5m2"};
    case kFloat8_e4m3fn: return {"float8_e4m3fn", "c10::Float8_e4m3fn"};
    case kFloat8_e5m2fnuz: return {"float8_e5m2fnuz", "c10::Float8_e5m2fnuz"};
    case kFloat8_e4m3fnuz: return {"float8_e4m3fnuz", "c10::Float8_e4m3fnuz"};
    case kFloat8_e8m0fnu: return {"float8_e8m0fnu", "c10::Float8_e8m0fnu"};
    default: return {"undefined", "nullptr (uninitialized)"};
  }
}

std::atomic<ScalarType> default_dtype{kFloat};

}  // namespace

const char* by_name::name_of(ScalarType type) {
  switch (type) {
#define HEARTH_NAME(cpp_type, Name) \
  case ScalarType::Name: return #Name;
    HEARTH_ALL_DTYPES(HEARTH_NAME)
    HEARTH_NAMED_DTYPES(HEARTH_NAME)
#undef HEARTH_NAME
    default: return "Undefined";
  }
}
const char* by_name::python_name_of(ScalarType type) { return names_of(type).python; }
const char* TypeMeta::name() const { return names_of(type_).cpp_type; }

ScalarType get_default_dtype_as_scalartype() {
  return default_dtype.load(std::memory_order_relaxed);
}
void set_default_dtype(ScalarType type) {
  HEARTH_CHECK(element_size(type) > 0, "ScalarType ", int(type), " (", name_of(type),
               ") is not a dtype of tensor elements");
  default_dtype.store(type, std::memory_order_relaxed);
}

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) return ScalarType::Undefined;
  HEARTH_CHECK(!is_float8(a) && !is_float8(b),
               "Promotion for Float8 Types is not supported, attempted to promote ", name_of(a),
               " and ", name_of(b));
  if (is_wide_unsigned(a) && is_floating_point(b)) return b;
  if (is_wide_unsigned(b) && is_floating_point(a)) return a;
  HEARTH_CHECK(!is_wide_unsigned(a) && !is_wide_unsigned(b),
               "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ",
               name_of(a), " and ", name_of(b));
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
  if (other.has_layout_) merged = merged.layout(other.layout_);
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
