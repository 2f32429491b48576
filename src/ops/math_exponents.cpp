// Functions of a number's binary exponent.
#include "ops/composed_out.h"
#include "ops/promote.h"

namespace hearth {

namespace {

/// x * 2^exponents in float64. Multiplies by three powers of 2, because 2^exponents may overflow. A
/// nonzero result is rounded once, because only the last factor can make it subnormal.
Tensor scaled_by_power(const Tensor& x, const Tensor& exponents) {
  constexpr int64_t kFactor = 1000,
                    kLargest = 2200;  // 2^±kLargest takes any number to infinity or 0
  const Tensor all = exponents.to(kLong).clamp(-kLargest, kLargest);
  const Tensor last = all.clamp(-kFactor, kFactor), rest = all.sub(last);
  const Tensor second = rest.clamp(-kFactor, kFactor), first = rest.sub(second);
  Tensor result = x.to(kDouble);
  for (const Tensor* part : {&first, &second, &last}) result = result.mul(part->to(kDouble).exp2());
  return result;
}

/// self * 2^other.
struct Ldexp {
  struct Args {};
  static constexpr OpInfo info{.name = "ldexp"};
  static Tensor compute(const Args&, const Tensor& self, const Tensor& other) {
    const NoAutocast plain;
    if (self.is_complex() || !is_integral(other.scalar_type(), false))
      return self.mul(pow(Scalar(2.0), other));
    const ScalarType type = self.is_floating_point() ? self.scalar_type() : kFloat;
    return scaled_by_power(self, other).to(type);
  }
};

/// The exponents of finite numbers that are not subnormal, from the bits of float64.
Tensor exponents_of_bits(const Tensor& x) {
  constexpr int64_t kFractionBits = 52, kExponentMask = 0x7ff;
  constexpr int64_t kBias = 1022;  // float64's less 1, as frexp's fractions are below 1
  return x.view(kLong).bitwise_right_shift(kFractionBits).bitwise_and(kExponentMask).sub(kBias);
}

/// Fraction and exponent, computed in float64, which holds the numbers of all floating dtypes.
struct Frexp {
  struct Args {};
  static constexpr OpInfo info{.name = "frexp"};
  static TensorPair compute(const Args&, const Tensor& self) {
    constexpr double kSmall = 0x1p-1000;
    constexpr int64_t kShift = 60;  // makes subnormal numbers normal
    const Tensor x = self.to(kDouble), value = x.detach().contiguous();
    const Tensor is_plain = value.isfinite().logical_and(value.ne(0));
    const Tensor shift = value.abs().lt(kSmall).logical_and(is_plain).to(kLong).mul(kShift);
    const Tensor exponent =
        exponents_of_bits(scaled_by_power(value, shift)).sub(shift).mul(is_plain);
    return {scaled_by_power(x, exponent.neg()).to(self.scalar_type()), exponent.to(kInt)};
  }
};

TensorPair frexp_of(const Tensor& self) {
  HEARTH_CHECK(self.is_floating_point(), "torch.frexp() only supports floating-point dtypes");
  return compose<Frexp>({}, self);
}

}  // namespace

HEARTH_DEFINE_COMPOSED(ldexp, (const Tensor& other), compose<Ldexp>({}, self, other))
HEARTH_DEFINE_METHOD(TensorPair, frexp, (), frexp_of(self))

TensorRefPair frexp_out(Tensor& mantissa, Tensor& exponent, const Tensor& self) {
  check_defined("frexp", 0, "self", self);
  const auto [first, second] = frexp_of(self);
  write_out("frexp", mantissa, [&first = first] { return first; });
  write_out("frexp", exponent, [&second = second] { return second; });
  return {mantissa, exponent};
}

}  // namespace hearth
