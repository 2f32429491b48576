#pragma once

#include "c10/namespaces.h"
#include "hearth/float8.h"
#include "hearth/scalar.h"

// AT_FORALL_…(X) calls X(C++ type, Name) for each dtype of a family.
#define AT_FORALL_INT_TYPES(X) \
  X(uint8_t, Byte)             \
  X(int8_t, Char)              \
  X(int16_t, Short)            \
  X(int, Int)                  \
  X(int64_t, Long)
#define AT_FORALL_SCALAR_TYPES(X) \
  AT_FORALL_INT_TYPES(X)          \
  X(float, Float)                 \
  X(double, Double)
#define AT_FORALL_SCALAR_TYPES_AND(first, X) \
  AT_FORALL_SCALAR_TYPES(X)                  \
  X(::c10::impl::ScalarTypeToCPPTypeT<::c10::ScalarType::first>, first)
#define AT_FORALL_SCALAR_TYPES_AND2(first, second, X) \
  AT_FORALL_SCALAR_TYPES_AND(first, X)                \
  X(::c10::impl::ScalarTypeToCPPTypeT<::c10::ScalarType::second>, second)
#define AT_FORALL_SCALAR_TYPES_AND3(first, second, third, X) \
  AT_FORALL_SCALAR_TYPES_AND2(first, second, X)              \
  X(::c10::impl::ScalarTypeToCPPTypeT<::c10::ScalarType::third>, third)
#define AT_FORALL_COMPLEX_TYPES(X)       \
  X(::c10::complex<float>, ComplexFloat) \
  X(::c10::complex<double>, ComplexDouble)
#define AT_FORALL_FLOAT8_TYPES(X)            \
  X(::c10::Float8_e5m2, Float8_e5m2)         \
  X(::c10::Float8_e4m3fn, Float8_e4m3fn)     \
  X(::c10::Float8_e5m2fnuz, Float8_e5m2fnuz) \
  X(::c10::Float8_e4m3fnuz, Float8_e4m3fnuz) \
  X(::c10::Float8_e8m0fnu, Float8_e8m0fnu)

namespace caffe2 {
using hearth::TypeMeta;
}

namespace c10 {

template <class T>
struct CppTypeToScalarType {
  static constexpr ScalarType value = hearth::dtype_of<T>;
};
namespace impl {
template <ScalarType type>
struct ScalarTypeToCPPType;
#define HEARTH_CPP_TYPE(cpp_type, Name)          \
  template <>                                    \
  struct ScalarTypeToCPPType<ScalarType::Name> { \
    using type = cpp_type;                       \
  };
HEARTH_ALL_DTYPES(HEARTH_CPP_TYPE)
#undef HEARTH_CPP_TYPE
template <ScalarType type>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;
}  // namespace impl
inline ScalarType typeMetaToScalarType(hearth::TypeMeta type) { return type.toScalarType(); }
inline hearth::TypeMeta scalarTypeToTypeMeta(ScalarType type) { return type; }
inline bool isFloatingType(ScalarType type) { return hearth::is_floating_point(type); }
inline bool isComplexType(ScalarType type) { return hearth::is_complex(type); }
inline bool isIntegralType(ScalarType type, bool includeBool) {
  return hearth::is_integral(type, includeBool);
}
inline bool isSignedType(ScalarType type) {
  return hearth::by_name::is_signed(type) && type != kFloat8_e8m0fnu;
}
inline bool isFloat8Type(ScalarType type) { return hearth::is_float8(type); }
inline bool isReducedFloatingType(ScalarType type) {
  return hearth::is_reduced_float(type) || isFloat8Type(type);
}
constexpr bool isBarebonesUnsignedType(ScalarType type) { return hearth::is_wide_unsigned(type); }
inline bool isBitsType(ScalarType type) { return type >= kBits1x8 && type <= kBits16; }
inline bool isQIntType(ScalarType type) {
  return (type >= kQInt8 && type <= kQInt32) || type == kQUInt4x2 || type == kQUInt2x4;
}
/// The quantised type of an integer type.
inline ScalarType toQIntType(ScalarType type) {
  switch (type) {
    case kByte: return kQUInt8;
    case kChar: return kQInt8;
    case kInt: return kQInt32;
    default: return type;
  }
}
/// The integer type that stores a quantised type.
inline ScalarType toUnderlying(ScalarType type) {
  switch (type) {
    case kQUInt8:
    case kQUInt4x2:
    case kQUInt2x4: return kByte;
    case kQInt8: return kChar;
    case kQInt32: return kInt;
    default: return type;
  }
}
inline ScalarType toRealValueType(ScalarType type) {
  return type == kComplexHalf ? kHalf : hearth::to_real(type);
}
inline ScalarType toComplexType(ScalarType type) { return hearth::to_complex(type); }
constexpr uint16_t NumScalarTypes = static_cast<uint16_t>(ScalarType::NumOptions);
inline bool canCast(ScalarType from, ScalarType to) { return hearth::can_cast(from, to); }

}  // namespace c10

#define HEARTH_SCALAR_TYPE_NAMES      \
  using c10::canCast;                 \
  using c10::CppTypeToScalarType;     \
  using c10::isBarebonesUnsignedType; \
  using c10::isBitsType;              \
  using c10::isComplexType;           \
  using c10::isFloat8Type;            \
  using c10::isQIntType;              \
  using c10::toQIntType;              \
  using c10::toUnderlying;            \
  using c10::isFloatingType;          \
  using c10::isReducedFloatingType;   \
  using c10::toComplexType;           \
  using c10::toRealValueType;         \
  using c10::isIntegralType;          \
  using c10::isSignedType;            \
  using c10::scalarTypeToTypeMeta;    \
  using c10::typeMetaToScalarType;
namespace at {
HEARTH_SCALAR_TYPE_NAMES
}
namespace torch {
HEARTH_SCALAR_TYPE_NAMES
}
#undef HEARTH_SCALAR_TYPE_NAMES
