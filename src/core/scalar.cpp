#include "hearth/scalar.h"

#include <cfloat>
#include <cmath>
#include <limits>

#include "hearth/float8.h"

namespace hearth {

namespace {

const char* c_name_of(ScalarType type) {
  switch (type) {
    case kByte: return "uint8_t";
    case kChar: return "int8_t";
    case kShort: return "int16_t";
    case kLong: return "int64_t";
    case kUInt16: return "uint16_t";
    case kUInt32: return "uint32_t";
    case kUInt64: return "uint64_t";
    default: return TypeMeta(type).name();
  }
}

[[noreturn]] void overflow(ScalarType type) {
  detail::fail<Error>("value cannot be converted to type ", c_name_of(type), " without overflow");
}

/// The finite numbers of a floating dtype.
struct RealRange {
  double lowest, largest;
  bool has_infinity = true;
};
RealRange range_of(const detail::Float8Layout& layout) {
  const double largest = detail::float8_to_float(layout.largest, layout);
  return {-largest, largest, std::isinf(detail::float8_to_float(layout.overflow, layout))};
}
RealRange range_of(ScalarType type) {
  switch (type) {
    case kHalf: return {-65504, 65504};
    case kBFloat16: return {-0x1.fep127, 0x1.fep127};
    case kFloat: return {-FLT_MAX, FLT_MAX};
    case kFloat8_e5m2: return range_of(detail::kFloat8_e5m2Layout);
    case kFloat8_e4m3fn: return range_of(detail::kFloat8_e4m3fnLayout);
    case kFloat8_e5m2fnuz: return range_of(detail::kFloat8_e5m2fnuzLayout);
    case kFloat8_e4m3fnuz: return range_of(detail::kFloat8_e4m3fnuzLayout);
    case kFloat8_e8m0fnu: return {0x1p-127, 0x1p127, false};
    default: return {-DBL_MAX, DBL_MAX};
  }
}

/// Throws if the value is out of the dtype's range; NaN always fits.
double checked_real(double value, ScalarType type, bool is_integer = false) {
  const RealRange range = range_of(type);
  if (std::isinf(value)
          ? !range.has_infinity
          // As in PyTorch, an integer may become unsigned.
          : value > range.largest || value < (is_integer ? -range.largest : range.lowest))
    overflow(type);
  return value;
}

bool fits_integer(int64_t value, ScalarType type) {
  const auto fits = [&](auto limits) {
    return value >= int64_t(limits.min()) && value <= int64_t(limits.max());
  };
  switch (type) {
    // Negative integers may wrap into an unsigned type, as in PyTorch.
    case kByte: return value >= -255 && value <= 255;
    case kUInt16: return value >= -0xffff && value <= 0xffff;
    case kUInt32: return value >= -0xffffffffll && value <= 0xffffffffll;
    case kChar: return fits(std::numeric_limits<int8_t>());
    case kShort: return fits(std::numeric_limits<int16_t>());
    case kInt: return fits(std::numeric_limits<int32_t>());
    default: return true;
  }
}

/// The smallest real number that converts to the dtype, checked before truncation: -0.5 does not
/// fit uint8. The upper bound is checked after truncation: 255.5 fits, as 255.
double lowest_integer(ScalarType type) {
  switch (type) {
    case kByte:
    case kUInt16:
    case kUInt32: return 0;
    case kChar: return -0x1p7;
    case kShort: return -0x1p15;
    case kInt: return -0x1p31;
    default: return -0x1p63;
  }
}

}  // namespace

uint64_t Scalar::to_uint64() const {
  if (kind_ == Kind::kReal || kind_ == Kind::kComplex) {
    const double real = kind_ == Kind::kReal ? real_ : complex_.real_;
    if (kind_ == Kind::kComplex && complex_.imag_ != 0) overflow(kUInt64);
    if (!(real >= 0 && real < 0x1p64)) overflow(kUInt64);
    return static_cast<uint64_t>(real);
  }
  return static_cast<uint64_t>(integer_);
}

int64_t Scalar::to_integer(ScalarType type) const {
  if (type == kUInt64) return static_cast<int64_t>(to_uint64());
  int64_t value = integer_;
  if (kind_ == Kind::kUnsigned) overflow(type);
  if (kind_ == Kind::kReal || kind_ == Kind::kComplex) {
    const double real = kind_ == Kind::kReal ? real_ : complex_.real_;
    if (kind_ == Kind::kComplex && complex_.imag_ != 0) overflow(type);
    if (!(real >= -0x1p63 && real < 0x1p63)) overflow(type);
    value = static_cast<int64_t>(real);
    if (real < lowest_integer(type)) overflow(type);
  }
  if (!fits_integer(value, type)) overflow(type);
  return value;
}

double Scalar::to_real(ScalarType type) const {
  if (kind_ == Kind::kBoolean || isIntegral(false)) return checked_real(as_double(), type, true);
  if (kind_ == Kind::kReal) return checked_real(real_, type);
  if (checked_real(complex_.imag_, type) != 0) overflow(type);
  return checked_real(complex_.real_, type);
}

complex<double> Scalar::to_complex(ScalarType type) const {
  const complex<double> value = kind_ == Kind::kComplex ? complex_
                                : kind_ == Kind::kReal  ? real_
                                                        : as_double();
  if (type == kComplexFloat) {
    const auto fits = [](double part) {
      return !std::isfinite(part) || std::fabs(part) <= FLT_MAX;
    };
    if (!fits(value.real_) || !fits(value.imag_)) overflow(type);
  }
  return value;
}

Scalar Scalar::stored_as(ScalarType type) const {
  switch (type) {
#define HEARTH_STORE(cpp_type, Name) \
  case ScalarType::Name: return to<cpp_type>();
    HEARTH_ALL_DTYPES(HEARTH_STORE)
#undef HEARTH_STORE
    default: return *this;
  }
}

Scalar Scalar::operator-() const {
  switch (kind_) {
    case Kind::kBoolean:
      detail::fail<Error>("torch boolean negative, the `-` operator, is not supported.");
    case Kind::kInteger:
    case Kind::kUnsigned: return static_cast<int64_t>(-static_cast<uint64_t>(integer_));
    case Kind::kReal: return -real_;
    default: return -complex_;
  }
}

Scalar Scalar::conj() const {
  if (kind_ != Kind::kComplex) return *this;
  return complex<double>(complex_.real_, -complex_.imag_);
}

bool Scalar::equal(const Scalar& other) const {
  if (isBoolean() != other.isBoolean()) return false;
  if (isIntegral(true) && other.isIntegral(true))
    return integer_ == other.integer_ &&
           (kind_ == Kind::kUnsigned) == (other.kind_ == Kind::kUnsigned);
  return toComplexDouble() == other.toComplexDouble();
}

std::string as_text(const Scalar& value) {
  if (value.isBoolean()) return value.toBool() ? "true" : "false";
  if (value.type() == kUInt64) return detail::str(value.toUInt64());
  if (value.isIntegral(false)) return detail::str(value.toLong());
  if (value.isFloatingPoint()) return detail::str(value.toDouble());
  const auto z = value.toComplexDouble();
  return detail::str("(", z.real_, ",", z.imag_, ")");
}

}  // namespace hearth
