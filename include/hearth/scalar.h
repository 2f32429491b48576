#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "hearth/dtype.h"

namespace hearth {

/// A number of one of the kinds bool, integer, floating-point and complex.
class Scalar {
 public:
  constexpr Scalar() : integer_(0), kind_(Kind::kInteger) {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  constexpr Scalar(T value) : integer_(0), kind_(kind_of<T>()) {
    if constexpr (std::is_floating_point_v<T>)
      real_ = static_cast<double>(value);
    else
      integer_ = static_cast<int64_t>(value);
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(int64_t))
      if (integer_ < 0) kind_ = Kind::kUnsigned;
  }
  constexpr Scalar(Half value) : real_(float(value)), kind_(Kind::kReal) {}
  constexpr Scalar(BFloat16 value) : real_(float(value)), kind_(Kind::kReal) {}
  template <class T>
  constexpr Scalar(complex<T> value) : complex_(value), kind_(Kind::kComplex) {}
  template <class T>
  requires(is_float8(detail::DtypeOf<T>::value)) constexpr Scalar(T value)
      : real_(float(value)), kind_(Kind::kReal) {}

  constexpr bool isBoolean() const { return kind_ == Kind::kBoolean; }
  constexpr bool isIntegral(bool include_bool) const {
    return kind_ == Kind::kInteger || kind_ == Kind::kUnsigned ||
           (include_bool && kind_ == Kind::kBoolean);
  }
  /// Whether it is an integer that is not negative.
  constexpr bool isUnsigned() const {
    return kind_ == Kind::kUnsigned || (kind_ == Kind::kInteger && integer_ >= 0);
  }
  constexpr bool isFloatingPoint() const { return kind_ == Kind::kReal; }
  constexpr bool isComplex() const { return kind_ == Kind::kComplex; }
  /// The dtype of the kind: kBool, kLong (kUInt64 for integers that int64 cannot hold), kDouble or
  /// kComplexDouble.
  constexpr ScalarType type() const {
    return kind_ == Kind::kBoolean    ? kBool
           : kind_ == Kind::kInteger  ? kLong
           : kind_ == Kind::kUnsigned ? kUInt64
           : kind_ == Kind::kReal     ? kDouble
                                      : kComplexDouble;
  }

  /// The value as T; throws "value cannot be converted to type … without overflow" out of range.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return kind_ == Kind::kComplex ? complex_.real_ != 0 || complex_.imag_ != 0
             : kind_ == Kind::kReal  ? real_ != 0
                                     : integer_ != 0;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(to_integer(dtype_of<T>));
    } else if constexpr (std::is_same_v<T, complex<float>> || std::is_same_v<T, complex<double>>) {
      return T(to_complex(dtype_of<T>));
    } else {
      return static_cast<T>(static_cast<float_of<T>>(to_real(dtype_of<T>)));
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int32_t toInt() const { return to<int32_t>(); }
  int16_t toShort() const { return to<int16_t>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  uint16_t toUInt16() const { return to<uint16_t>(); }
  uint32_t toUInt32() const { return to<uint32_t>(); }
  uint64_t toUInt64() const { return to<uint64_t>(); }
  bool toBool() const { return to<bool>(); }
  Half toHalf() const { return to<Half>(); }
  BFloat16 toBFloat16() const { return to<BFloat16>(); }
  complex<double> toComplexDouble() const { return to<complex<double>>(); }
  complex<float> toComplexFloat() const { return to<complex<float>>(); }

  /// The value as a tensor stores it: rounded, or truncated to an integer; throws out of range.
  HEARTH_API Scalar stored_as(ScalarType type) const;

  HEARTH_API Scalar operator-() const;
  HEARTH_API Scalar conj() const;  ///< the complex conjugate
  /// Whether the values are equal; a bool equals only a bool.
  HEARTH_API bool equal(const Scalar& other) const;

 private:
  /// kUnsigned: the bits of a uint64_t above the range of int64_t, in integer_.
  enum class Kind : int8_t { kBoolean, kInteger, kReal, kComplex, kUnsigned };
  template <class T>
  static constexpr Kind kind_of() {
    return std::is_same_v<T, bool> ? Kind::kBoolean
           : std::is_integral_v<T> ? Kind::kInteger
                                   : Kind::kReal;
  }
  template <class T>
  using float_of = std::conditional_t<std::is_same_v<T, double>, double, float>;
  /// The value of kBoolean, kInteger or kUnsigned.
  double as_double() const {
    return kind_ == Kind::kUnsigned ? static_cast<double>(static_cast<uint64_t>(integer_))
                                    : static_cast<double>(integer_);
  }
  uint64_t to_uint64() const;
  HEARTH_API int64_t to_integer(ScalarType type) const;  // the bits of a kUInt64
  HEARTH_API double to_real(ScalarType type) const;
  HEARTH_API complex<double> to_complex(ScalarType type) const;

  union {
    int64_t integer_;
    double real_;
    complex<double> complex_;
  };
  Kind kind_;
};

/// The value as text: "2", "0.5", "true", "(1,2)" for 1 + 2i.
HEARTH_API std::string as_text(const Scalar& value);

}  // namespace hearth
