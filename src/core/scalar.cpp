#include "hearth/scalar.h"

#include <cfloat>
#include <cmath>
#include <limits>

namespace hearth {

namespace {

[[noreturn]] void overflow(ScalarType type) {
  detail::fail<Error>("value cannot be converted to type ", TypeMeta(type).name(),
                      " without overflow");
}

}  // namespace

int64_t Scalar::to_integer(ScalarType type) const {
  int64_t value = integer_;
  if (kind_ == Kind::kReal || kind_ == Kind::kComplex) {
    const double real = kind_ == Kind::kReal ? real_ : complex_.real_;
    if (kind_ == Kind::kComplex && complex_.imag_ != 0) overflow(type);
    if (!(real >= -0x1p63 && real < 0x1p63)) overflow(type);
    value = static_cast<int64_t>(real);
  }
  const auto fits = [&](auto limits) {
    return value >= int64_t(limits.min()) && value <= int64_t(limits.max());
  };
  bool ok = true;
  switch (type) {
    // Negative numbers may wrap into an unsigned type, as in PyTorch.
    case kByte: ok = value >= -255 && value <= 255; break;
    case kChar: ok = fits(std::numeric_limits<int8_t>()); break;
    case kShort: ok = fits(std::numeric_limits<int16_t>()); break;
    case kInt: ok = fits(std::numeric_limits<int32_t>()); break;
    default: break;
  }
  if (!ok) overflow(type);
  return value;
}

double Scalar::to_real(ScalarType type) const {
  if (kind_ == Kind::kBoolean || kind_ == Kind::kInteger) return static_cast<double>(integer_);
  if (kind_ == Kind::kComplex && complex_.imag_ != 0) overflow(type);
  const double value = kind_ == Kind::kReal ? real_ : complex_.real_;
  const double limit = type == kHalf                         ? 65504.0
                       : type == kFloat || type == kBFloat16 ? double(FLT_MAX)
                                                             : DBL_MAX;
  if (std::isfinite(value) && std::fabs(value) > limit) overflow(type);
  return value;
}

complex<double> Scalar::to_complex() const {
  if (kind_ == Kind::kComplex) return complex_;
  return kind_ == Kind::kReal ? real_ : static_cast<double>(integer_);
}

Scalar Scalar::operator-() const {
  switch (kind_) {
    case Kind::kBoolean:
      detail::fail<Error>("torch boolean negative, the `-` operator, is not supported.");
    case Kind::kInteger: return static_cast<int64_t>(-static_cast<uint64_t>(integer_));
    case Kind::kReal: return -real_;
    default: return -complex_;
  }
}

bool Scalar::equal(const Scalar& other) const {
  if (isBoolean() != other.isBoolean()) return false;
  if (isIntegral(true) && other.isIntegral(true)) return integer_ == other.integer_;
  return to_complex() == other.to_complex();
}

std::string to_string(const Scalar& value) {
  if (value.isBoolean()) return value.toBool() ? "true" : "false";
  if (value.isIntegral(false)) return detail::str(value.toLong());
  if (value.isFloatingPoint()) return detail::str(value.toDouble());
  const auto z = value.toComplexDouble();
  return detail::str("(", z.real_, ",", z.imag_, ")");
}

}  // namespace hearth
