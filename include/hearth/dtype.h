#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hearth/error.h"
#include "hearth/half.h"

namespace hearth {

struct Float8_e5m2;  // hearth/float8.h defines these five types
struct Float8_e4m3fn;
struct Float8_e5m2fnuz;
struct Float8_e4m3fnuz;
struct Float8_e8m0fnu;

/// The element types (dtypes) of tensors, with PyTorch's numbers. Tensors have the types of
/// HEARTH_ALL_DTYPES; the others are names that programs for LibTorch use.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  Bits1x8 = 18,
  Bits2x4 = 19,
  Bits4x2 = 20,
  Bits8 = 21,
  Bits16 = 22,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  Float8_e8m0fnu = 44,
  Undefined = 47,
  NumOptions = 48,
};
using Dtype = ScalarType;  ///< LibTorch's alias of ScalarType

/// A ScalarType argument that {} does not convert to, so that {} means an empty list of sizes.
struct NamedDtype {
  constexpr NamedDtype(ScalarType dtype) : type(dtype) {}
  ScalarType type;
};

/// The size of an array indexed by the ScalarTypes of HEARTH_DTYPES, whose numbers are smaller.
inline constexpr int kScalarTypeSlots = 17;

inline constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte;
inline constexpr ScalarType kChar = ScalarType::Char, kInt8 = kChar;
inline constexpr ScalarType kShort = ScalarType::Short, kInt16 = kShort;
inline constexpr ScalarType kInt = ScalarType::Int, kInt32 = kInt;
inline constexpr ScalarType kLong = ScalarType::Long, kInt64 = kLong;
inline constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = kHalf;
inline constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = kFloat;
inline constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = kDouble;
inline constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat, kComplex64 = kComplexFloat;
inline constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble,
                            kComplex128 = kComplexDouble;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
#define HEARTH_DTYPE_CONSTANT(type, Name) inline constexpr ScalarType k##Name = ScalarType::Name;

/// HEARTH_DTYPES(X) calls X(C++ type, Name) for the element types that kernels compute with.
#define HEARTH_DTYPES(X)                      \
  X(uint8_t, Byte)                            \
  X(int8_t, Char)                             \
  X(int16_t, Short)                           \
  X(int32_t, Int)                             \
  X(int64_t, Long)                            \
  X(::hearth::Half, Half)                     \
  X(float, Float)                             \
  X(double, Double)                           \
  X(::hearth::complex<float>, ComplexFloat)   \
  X(::hearth::complex<double>, ComplexDouble) \
  X(bool, Bool)                               \
  X(::hearth::BFloat16, BFloat16)

/// The element types without kernels of their own. They are stored, moved and converted; a few
/// operators compute with them in another type.
#define HEARTH_STORED_DTYPES(X)                 \
  X(uint16_t, UInt16)                           \
  X(uint32_t, UInt32)                           \
  X(uint64_t, UInt64)                           \
  X(::hearth::Float8_e5m2, Float8_e5m2)         \
  X(::hearth::Float8_e4m3fn, Float8_e4m3fn)     \
  X(::hearth::Float8_e5m2fnuz, Float8_e5m2fnuz) \
  X(::hearth::Float8_e4m3fnuz, Float8_e4m3fnuz) \
  X(::hearth::Float8_e8m0fnu, Float8_e8m0fnu)
HEARTH_STORED_DTYPES(HEARTH_DTYPE_CONSTANT)

/// All element types.
#define HEARTH_ALL_DTYPES(X) HEARTH_DTYPES(X) HEARTH_STORED_DTYPES(X)

/// LibTorch's types that no tensor of Hearth has, without a C++ type.
#define HEARTH_NAMED_DTYPES(X) \
  X(void, ComplexHalf)         \
  X(void, QInt8)               \
  X(void, QUInt8)              \
  X(void, QInt32)              \
  X(void, QUInt4x2)            \
  X(void, QUInt2x4)            \
  X(void, Bits1x8)             \
  X(void, Bits2x4)             \
  X(void, Bits4x2)             \
  X(void, Bits8)               \
  X(void, Bits16)
HEARTH_NAMED_DTYPES(HEARTH_DTYPE_CONSTANT)
#undef HEARTH_DTYPE_CONSTANT

namespace detail {
template <class T>
struct DtypeOf;
#define HEARTH_DTYPE_OF(type, Name)                       \
  template <>                                             \
  struct DtypeOf<type> {                                  \
    static constexpr ScalarType value = ScalarType::Name; \
  };
HEARTH_ALL_DTYPES(HEARTH_DTYPE_OF)
#undef HEARTH_DTYPE_OF
template <>
struct DtypeOf<long long> {
  static constexpr ScalarType value = ScalarType::Long;
};
template <>
struct DtypeOf<unsigned long long> {
  static constexpr ScalarType value = ScalarType::UInt64;
};

/// Whether the type is one of a list, as HEARTH_DTYPES.
#define HEARTH_DTYPE_BIT(type, Name) | uint64_t{1} << int(ScalarType::Name)
constexpr bool is_in(uint64_t set, ScalarType type) {
  return unsigned(type) < 64 && (set >> unsigned(type) & 1) != 0;
}
inline constexpr uint64_t kKernelDtypes = 0 HEARTH_DTYPES(HEARTH_DTYPE_BIT);
inline constexpr uint64_t kStoredDtypes = 0 HEARTH_STORED_DTYPES(HEARTH_DTYPE_BIT);
#undef HEARTH_DTYPE_BIT

/// The sizes of the element types, indexed by ScalarType.
struct ElementSizes {
  uint8_t bytes[64] = {};
#define HEARTH_SIZE(type, Name) bytes[int(ScalarType::Name)] = sizeof(type);
#define HEARTH_SMALLEST_SIZE(type, Name) bytes[int(ScalarType::Name)] = 1;
  constexpr ElementSizes() {
    HEARTH_STORED_DTYPES(HEARTH_SMALLEST_SIZE)  // of the float8 types, which are incomplete here
    HEARTH_DTYPES(HEARTH_SIZE)
    HEARTH_SIZE(uint16_t, UInt16)
    HEARTH_SIZE(uint32_t, UInt32)
    HEARTH_SIZE(uint64_t, UInt64)
  }
#undef HEARTH_SMALLEST_SIZE
#undef HEARTH_SIZE
};
inline constexpr ElementSizes kElementSizes;
}  // namespace detail

/// The ScalarType of a C++ type: dtype_of<float> is kFloat.
template <class T>
inline constexpr ScalarType dtype_of = detail::DtypeOf<T>::value;

/// Whether the type is complex: complex64 or complex128 in tensors.
constexpr bool is_complex(ScalarType type) {
  return type >= kComplexHalf && type <= kComplexDouble;
}
namespace by_name {
/// Whether the type is a floating-point type of 8 bits.
constexpr bool is_float8(ScalarType type) {
  return (type >= kFloat8_e5m2 && type <= kFloat8_e4m3fnuz) || type == kFloat8_e8m0fnu;
}
/// Whether the type is uint16, uint32 or uint64.
constexpr bool is_wide_unsigned(ScalarType type) { return type >= kUInt16 && type <= kUInt64; }
/// Whether the type is one of HEARTH_DTYPES.
constexpr bool has_kernels(ScalarType type) { return detail::is_in(detail::kKernelDtypes, type); }
/// Whether the type is one of HEARTH_STORED_DTYPES.
constexpr bool is_stored_only(ScalarType type) {
  return detail::is_in(detail::kStoredDtypes, type);
}
/// Bytes of one element; 0 for the types that no tensor has.
constexpr size_t element_size(ScalarType type) {
  return unsigned(type) < 64 ? detail::kElementSizes.bytes[unsigned(type)] : 0;
}
}  // namespace by_name
inline size_t elementSize(ScalarType type) { return element_size(type); }  ///< element_size(type)

/// Whether the type is a real floating-point type, of 8, 16, 32 or 64 bits.
constexpr bool is_floating_point(ScalarType type) {
  return type == kFloat || type == kDouble || type == kHalf || type == kBFloat16 ||
         by_name::is_float8(type);
}
namespace by_name {
/// Whether the type is float16 or bfloat16.
constexpr bool is_reduced_float(ScalarType type) { return type == kHalf || type == kBFloat16; }
/// Whether the type is an integer type, or bool if include_bool.
constexpr bool is_integral(ScalarType type, bool include_bool) {
  return (type >= kByte && type <= kLong) || is_wide_unsigned(type) ||
         (include_bool && type == kBool);
}
}  // namespace by_name
namespace by_name {
/// Whether the type has negative numbers.
constexpr bool is_signed(ScalarType type) {
  return type != kByte && type != kBool && !is_wide_unsigned(type);
}
}  // namespace by_name
/// Whether tensors of the type can require gradients.
constexpr bool is_differentiable(ScalarType type) {
  return is_floating_point(type) || is_complex(type);
}

namespace by_name {
/// float32 for complex64, float64 for complex128, the type itself for all others.
constexpr ScalarType to_real(ScalarType type) {
  return type == kComplexFloat ? kFloat : type == kComplexDouble ? kDouble : type;
}
/// complex128 for float64 and complex128, complex64 for all others.
constexpr ScalarType to_complex(ScalarType type) {
  return to_real(type) == kDouble ? kComplexDouble : kComplexFloat;
}
/// "Float", "Long", …, as PyTorch prints a ScalarType in C++.
HEARTH_API const char* name_of(ScalarType type);
/// "float32", "int64", …, as Python prints a dtype after "torch.".
HEARTH_API const char* python_name_of(ScalarType type);
}  // namespace by_name
inline std::string as_text(ScalarType type) { return name_of(type); }
inline const char* toString(ScalarType type) { return name_of(type); }  ///< name_of(type)

/// The result type of an operation on tensors of types a and b, by PyTorch's table.
HEARTH_API ScalarType promote_types(ScalarType a, ScalarType b);
/// promote_types(a, b).
inline ScalarType promoteTypes(ScalarType a, ScalarType b) { return promote_types(a, b); }
/// Whether results of type `from` may be written to tensors of type `to`: not float to int, for
/// example.
HEARTH_API bool can_cast(ScalarType from, ScalarType to);

/// The dtype of floating-point tensors created without a dtype; initially float32.
HEARTH_API ScalarType get_default_dtype_as_scalartype();
HEARTH_API void set_default_dtype(ScalarType type);  ///< sets get_default_dtype()

/// The result of Tensor::dtype(): a ScalarType that prints as the C++ type ("float").
class TypeMeta {
 public:
  constexpr TypeMeta() = default;
  constexpr TypeMeta(ScalarType type) : type_(type) {}
  constexpr operator ScalarType() const { return type_; }
  constexpr ScalarType toScalarType() const { return type_; }
  static constexpr TypeMeta fromScalarType(ScalarType type) { return type; }
  constexpr bool isScalarType() const { return type_ != ScalarType::Undefined; }
  constexpr bool isScalarType(ScalarType type) const { return type_ == type; }
  constexpr size_t itemsize() const { return element_size(type_); }  ///< bytes of one element
  /// The TypeMeta of the C++ type T.
  template <class T>
  static constexpr TypeMeta Make() {
    return dtype_of<T>;
  }
  /// Whether this is the type of T.
  template <class T>
  constexpr bool Match() const {
    return type_ == dtype_of<T>;
  }
  HEARTH_API const char* name() const;  ///< the C++ type's name, such as "float" or "long int"
  friend constexpr bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
  friend constexpr bool operator==(TypeMeta a, ScalarType b) { return a.type_ == b; }

 private:
  ScalarType type_ = ScalarType::Undefined;
};

/// get_default_dtype_as_scalartype() as a TypeMeta.
inline TypeMeta get_default_dtype() { return get_default_dtype_as_scalartype(); }

}  // namespace hearth
