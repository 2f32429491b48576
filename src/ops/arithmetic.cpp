#include <bit>
#include <mutex>

#include "functors/arithmetic.h"
#include "hearth/operators.h"
#include "ops/complex.h"
#include "ops/composed_out.h"
#include "ops/define.h"
#include "ops/pointwise_named.h"

namespace hearth {

namespace {

/// alpha of add and sub: an integer stays exact; a fraction needs a floating or complex result.
ComplexFactor factor(const Scalar& alpha, const Tensor& self, const Tensor& other) {
  const ScalarType type = result_type(self, other);
  HEARTH_CHECK(type == kBool || !alpha.isBoolean(),
               "Boolean alpha only supported for Boolean results.");
  HEARTH_CHECK(is_floating_point(type) || is_complex(type) || alpha.isIntegral(true),
               "For integral input tensors, argument alpha must not be a floating point number.");
  HEARTH_CHECK(is_complex(type) || !alpha.isComplex(),
               "For non-complex input tensors, argument alpha must not be a complex number.");
  (void)alpha.stored_as(type);  // throws if it does not fit
  return complex_factor_of(alpha);
}

/// The factor alpha; the default, 1, needs no check.
ComplexFactor alpha_of(const Scalar& alpha, const Tensor& self, const Tensor& other) {
  if (alpha.isIntegral(false) && alpha.toLong() == 1) return {};
  return factor(alpha, self, other);
}

const Tensor& check_sub_operand(const Tensor& self, bool other_is_bool) {
  const bool self_is_bool = self.scalar_type() == kBool;
  HEARTH_CHECK_AS(NotImplementedError, !(self_is_bool && other_is_bool),
                  "Subtraction, the `-` operator, with two bool tensors is not supported. Use the "
                  "`^` or `logical_xor()` operator instead.");
  HEARTH_CHECK_AS(NotImplementedError, !self_is_bool && !other_is_bool,
                  "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
                  "trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  return self;
}

const Tensor& check_neg_operand(const Tensor& self) {
  HEARTH_CHECK_AS(
      NotImplementedError, self.scalar_type() != kBool,
      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
      "to invert a mask, use "
      "the `~` or `logical_not()` operator instead.");
  return self;
}

const Tensor& check_unary_plus(const Tensor& self) {
  HEARTH_CHECK_AS(NotImplementedError, self.scalar_type() != kBool,
                  "The `+` operator, on a bool tensor is not supported.");
  return self;
}

const Tensor& check_inplace_abs(const Tensor& self) {
  HEARTH_CHECK(!self.is_complex(), "In-place abs is not supported for complex tensors.");
  return self;
}

const Tensor& check_sign(const Tensor& self) {
  HEARTH_CHECK_AS(NotImplementedError, !self.is_complex(),
                  "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
                  "torch.sgn instead.");
  return self;
}

/// The info of an op that keeps the numbers of these inputs exact, on GPUs and on the CPU.
constexpr OpInfo with_exact_numbers(OpInfo info, SlotSet gpu, SlotSet cpu) {
  info.exact_numbers = gpu;
  info.exact_numbers_cpu = cpu;
  return info;
}

constexpr OpInfo kAddNumber = with_node(fn::Add::info, "AddBackward1"),
                 kSubNumber = with_node(fn::Sub::info, "SubBackward1"),
                 kRsub = with_node(fn::Sub::info, "Rsub"),
                 kRsubNumber = with_node(fn::Sub::info, "RsubBackward1"),
                 kMulNumber = with_node(fn::Mul::info, "MulBackward1"),
                 kMulNumberInplace = with_exact_numbers(kMulNumber, kMulNumber.exact_numbers, 0),
                 kSgn = with_node(fn::Sign::info, "Sgn");

}  // namespace

#define HEARTH_DEFINE_SUB(name)                                                                    \
  HEARTH_DEFINE_ALL_FORMS(name, (const Tensor& other, const Scalar& alpha),                        \
                          pointwise(fn::Sub{alpha_of(alpha, self, other)},                         \
                                    check_sub_operand(self, other.scalar_type() == kBool), other)) \
  HEARTH_DEFINE_ALL_FORMS(                                                                         \
      name, (const Scalar& other, const Scalar& alpha),                                            \
      pointwise_as<kSubNumber>(fn::Sub{alpha_of(alpha, self, self)},                               \
                               check_sub_operand(self, other.isBoolean()), wrapped_number(other)))

HEARTH_DEFINE_ALL_FORMS(add, (const Tensor& other, const Scalar& alpha),
                        pointwise(fn::Add{alpha_of(alpha, self, other)}, self, other))
HEARTH_DEFINE_ALL_FORMS(add, (const Scalar& other, const Scalar& alpha),
                        pointwise_as<kAddNumber>(fn::Add{alpha_of(alpha, self, self)}, self,
                                                 wrapped_number(other)))
HEARTH_DEFINE_SUB(sub)
HEARTH_DEFINE_SUB(subtract)
HEARTH_DEFINE_OUT(rsub, (const Tensor& other, const Scalar& alpha),
                  pointwise_as<kRsub>(fn::Sub{alpha_of(alpha, self, other)},
                                      check_sub_operand(other, self.scalar_type() == kBool), self))
HEARTH_DEFINE_OUT(rsub, (const Scalar& other, const Scalar& alpha),
                  pointwise_as<kRsubNumber>(fn::Sub{alpha_of(alpha, self, self)},
                                            wrapped_number(other),
                                            check_sub_operand(self, other.isBoolean())))
Tensor detail::number_for(const Scalar& number, const Tensor& b) {
  check_defined("operator", 0, "self", b);
  const ScalarType type = b.scalar_type();
  return wrapped_number(is_integral(type, true) ? number : number.stored_as(type));
}
// As in LibTorch, the in-place form for a number puts the number first.
#define HEARTH_DEFINE_MUL(name)                                                           \
  HEARTH_DEFINE_ALL_FORMS(name, (const Tensor& other), pointwise(fn::Mul{}, self, other)) \
  HEARTH_DEFINE_OUT(name, (const Scalar& other),                                          \
                    pointwise_as<kMulNumber>(fn::Mul{}, self, wrapped_number(other)))     \
  HEARTH_DEFINE_INPLACE(name##_, (const Scalar& other),                                   \
                        pointwise_as<kMulNumberInplace>(fn::Mul{}, self, wrapped_number(other)))
HEARTH_DEFINE_MUL(mul)
HEARTH_DEFINE_MUL(multiply)
#undef HEARTH_DEFINE_MUL
#undef HEARTH_DEFINE_SUB
HEARTH_DEFINE_ALL_FORMS(neg, (), pointwise(fn::Neg{}, check_neg_operand(self)))
HEARTH_DEFINE_ALL_FORMS(negative, (), pointwise(fn::Neg{}, check_neg_operand(self)))
#define HEARTH_DEFINE_ABS(name)                                                                    \
  HEARTH_DEFINE_OUT(                                                                               \
      name, (), pick(self.is_complex(), invoke<AbsComplex>({}, self), pointwise(fn::Abs{}, self))) \
  HEARTH_DEFINE_INPLACE(name##_, (), pointwise(fn::Abs{}, check_inplace_abs(self)))
HEARTH_DEFINE_ABS(abs)
HEARTH_DEFINE_ABS(absolute)
#undef HEARTH_DEFINE_ABS
HEARTH_DEFINE_ALL_FORMS(sign, (), pointwise(fn::Sign{}, check_sign(self)))
HEARTH_DEFINE_ALL_FORMS(sgn, (),
                        pick(self.is_complex(), pointwise(fn::ComplexSgn{}, self),
                             pointwise_as<kSgn>(fn::Sign{}, self)))
HEARTH_DEFINE_METHOD(Tensor, positive, (), check_unary_plus(self))

namespace {

constexpr OpInfo kPowTensor = with_node(fn::Pow::info, "PowBackward1"),
                 kPowOfNumber = with_node(fn::Pow::info, "PowBackward2"),
                 kComplexPowTensor = with_node(fn::ComplexPow::info, "PowBackward1"),
                 kComplexPowOfNumber = with_node(fn::ComplexPow::info, "PowBackward2"),
                 kLerpTensor = with_node(fn::Lerp::info, "LerpBackward1"),
                 kLerpNumber = with_exact_numbers(fn::Lerp::info, in_slot(2), in_slot(2));

/// The exponent as a tensor; throws if PyTorch refuses it.
Tensor exponent_of(const Tensor& self, const Scalar& exponent) {
  HEARTH_CHECK(!(is_integral(self.scalar_type(), true) && exponent.isIntegral(true) &&
                 exponent.toLong() < 0),
               "Integers to negative integer powers are not allowed.");
  const ScalarType type = result_type(self, exponent);
  if (is_integral(type, true) || is_reduced_float(type)) (void)exponent.stored_as(type);
  return wrapped_number(exponent);
}

/// Whether the exponent is `power` and the result has self's dtype.
bool is_power(const Tensor& self, const Scalar& exponent, int power) {
  if (exponent.isComplex() || exponent.toDouble() != power) return false;
  const ScalarType type = self.scalar_type();
  return type != kBool && (!is_integral(type, false) || exponent.isIntegral(false));
}

/// Whether the exponent is `power` and PyTorch computes the power by roots (not for half and
/// integer dtypes).
bool is_root(const Tensor& self, const Scalar& exponent, double power) {
  const ScalarType type = self.scalar_type();
  const bool has_root = is_complex(type) || type == kFloat || type == kDouble;
  return has_root && (is_complex(type) || !exponent.isComplex()) &&
         exponent.toComplexDouble() == power;
}

/// Whether complex numbers are raised to the power -1 or -2.
bool is_complex_inverse(const Tensor& self, const Scalar& exponent) {
  const complex<double> power = exponent.toComplexDouble();
  return self.is_complex() && (power == -1. || power == -2.);
}

/// A complex number to the power -1 or -2, computed without logarithms, as in PyTorch.
auto complex_inverse(const Tensor& self, const Scalar& exponent) {
  return composed("pow", [&self, &exponent] {
    return (exponent.toComplexDouble() == -2. ? self.square() : self).reciprocal();
  });
}

/// The base of a power, converted to complex if the exponent is complex.
Tensor base_of(const Tensor& self, const Scalar& exponent) {
  return exponent.isComplex() && !self.is_complex() ? self.to(result_type(self, exponent)) : self;
}
Tensor base_of(const Tensor& self, const Tensor& exponent) {
  return exponent.is_complex() && !self.is_complex() ? self.to(result_type(self, exponent)) : self;
}
Tensor base_of(const Scalar& self, const Tensor& exponent) {
  return wrapped_number(exponent.is_complex() ? Scalar(self.toComplexDouble()) : self);
}

/// pow of real or of complex numbers.
template <const OpInfo& real_info, const OpInfo& complex_info, class A, class B>
auto power(const A& a, const B& b) {
  return pick(is_complex(result_type(a, b)), pointwise_as<complex_info>(fn::ComplexPow{}, a, b),
              pointwise_as<real_info>(fn::Pow{}, a, b));
}

/// where's condition as a bool tensor; uint8 is accepted with a warning.
Tensor boolean(const Tensor& condition) {
  if (condition.defined() && condition.scalar_type() == kByte) {
    static std::once_flag warned;
    std::call_once(warned, [] {
      warn(
          "where received a uint8 condition tensor. This behavior is deprecated and will be "
          "removed in a future version of PyTorch. Use a boolean condition instead.");
    });
    return condition.to(kBool);
  }
  HEARTH_CHECK(condition.scalar_type() == kBool,
               "where expected condition to be a boolean tensor, but got a tensor with dtype ",
               name_of(condition.scalar_type()));
  return condition;
}

/// where of dtypes without kernels, whose elements are moved as integers of their size.
Tensor where_of_bits(const Tensor& condition, const Tensor& self, const Tensor& other) {
  constexpr ScalarType kBits[] = {kByte, kShort, kInt, kLong};
  const ScalarType type = result_type(self, other);
  if (has_kernels(type)) return where(condition, self.to(type), other.to(type));
  const ScalarType bits = kBits[std::countr_zero(element_size(type))];
  return where(condition, self.to(type).view(bits), other.to(type).view(bits)).view(type);
}

bool is_only_moved(const Tensor& tensor) { return is_stored_only(tensor.scalar_type()); }

/// A number as a branch of where, rounded to the result's dtype; where itself rounds to
/// is_rounded_float().
Tensor branch(const Scalar& value, ScalarType result) {
  return wrapped_number(is_rounded_float(result) ? value : value.stored_as(result));
}

}  // namespace

HEARTH_DEFINE_ALL_FORMS(
    pow, (const Scalar& exponent),
    pick(is_power(self, exponent, 2), pointwise(fn::Square{}, self),
         pick(is_power(self, exponent, 3), pointwise(fn::Cube{}, self),
              pick(is_root(self, exponent, 0.5), pointwise(fn::PowHalf{}, self),
                   pick(is_root(self, exponent, -0.5), pointwise(fn::PowMinusHalf{}, self),
                        pick(is_complex_inverse(self, exponent), complex_inverse(self, exponent),
                             power<fn::Pow::info, fn::ComplexPow::info>(
                                 base_of(self, exponent), exponent_of(self, exponent))))))))
HEARTH_DEFINE_ALL_FORMS(square, (),
                        pick(is_power(self, 2, 2), pointwise(fn::Square{}, self),
                             power<fn::Pow::info, fn::ComplexPow::info>(base_of(self, 2),
                                                                        exponent_of(self, 2))))
HEARTH_DEFINE_ALL_FORMS(pow, (const Tensor& exponent),
                        power<kPowTensor, kComplexPowTensor>(base_of(self, exponent), exponent))
HEARTH_DEFINE_FUNCTION(pow, (const Scalar& self, const Tensor& exponent),
                       power<kPowOfNumber, kComplexPowOfNumber>(base_of(self, exponent), exponent))
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  if (self.defined() && other.defined() && (is_only_moved(self) || is_only_moved(other)))
    return where_of_bits(condition, self, other);
  return pointwise(fn::Where{}, boolean(condition), self, other).call();
}
Tensor& where_out(Tensor& out, const Tensor& condition, const Tensor& self, const Tensor& other) {
  if (self.defined() && other.defined() && (is_only_moved(self) || is_only_moved(other)))
    return write_out("where", out, [&] { return where_of_bits(condition, self, other); });
  return pointwise(fn::Where{}, boolean(condition), self, other).out(out);
}
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return where(condition, branch(self, result_type(other, self)), other);
}
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return where(condition, self, branch(other, result_type(self, other)));
}
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  const ScalarType type = result_type(wrapped_number(self), other);
  return where(condition, branch(self, type), branch(other, type));
}
std::vector<Tensor> where(const Tensor& condition) {
  return (condition.dim() == 0 ? condition.unsqueeze(0) : condition).nonzero().unbind(1);
}
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  return hearth::where(condition, *this, other);
}
Tensor Tensor::where(const Tensor& condition, const Scalar& other) const {
  return hearth::where(condition, *this, other);
}

ScalarType result_type(const Tensor& a, const Tensor& b) {
  const Tensor* both[] = {&a, &b};
  return result_type_of({both, 2});
}
ScalarType result_type(const Tensor& a, const Scalar& b) {
  return result_type(a, wrapped_number(b));
}
ScalarType result_type(const Scalar& a, const Tensor& b) {
  return result_type(wrapped_number(a), b);
}
ScalarType result_type(const Scalar& a, const Scalar& b) {
  return result_type(wrapped_number(a), wrapped_number(b));
}

namespace {

const Tensor& check_lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  const auto check = [&](const Tensor& other, const char* name) {
    HEARTH_CHECK(self.dtype() == other.dtype(), "expected dtype ", self.dtype().name(), " for `",
                 name, "` but got dtype ", other.dtype().name());
  };
  check(end, "end");
  if (weight.dim() > 0) check(weight, "weight");
  check_dtype(fn::Lerp::info, self.scalar_type());
  return self;
}

const Tensor& check_addcdiv(const Tensor& tensor1, const Tensor& tensor2) {
  HEARTH_CHECK(
      !is_integral(tensor1.scalar_type(), true) || !is_integral(tensor2.scalar_type(), true),
      "Integer division with addcdiv is no longer supported, and in a future  release "
      "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
      "behavior can be implemented as (input + value * torch.trunc(tensor1 / "
      "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
      "tensor2) for float inputs. The future addcdiv behavior is just the latter "
      "implementation: (input + value * tensor1 / tensor2), for all dtypes.");
  return tensor1;
}

const Tensor& check_heaviside(const Tensor& values, const Tensor& self) {
  HEARTH_CHECK(self.dtype() == values.dtype(),
               "heaviside is not yet implemented for tensors with different dtypes.");
  return values;
}

}  // namespace

HEARTH_DEFINE_ALL_FORMS(lerp, (const Tensor& end, const Tensor& weight),
                        pointwise_as<kLerpTensor>(fn::Lerp{}, check_lerp(self, end, weight), end,
                                                  weight))
HEARTH_DEFINE_ALL_FORMS(lerp, (const Tensor& end, const Scalar& weight),
                        pointwise_as<kLerpNumber>(fn::Lerp{}, check_lerp(self, end, self), end,
                                                  wrapped_number(weight)))
HEARTH_DEFINE_ALL_FORMS(addcmul,
                        (const Tensor& tensor1, const Tensor& tensor2, const Scalar& value),
                        pointwise(fn::Addcmul{complex_factor_of(value)}, self, tensor1, tensor2))
HEARTH_DEFINE_ALL_FORMS(addcdiv,
                        (const Tensor& tensor1, const Tensor& tensor2, const Scalar& value),
                        pointwise(fn::Addcdiv{complex_factor_of(value)}, self,
                                  check_addcdiv(tensor1, tensor2), tensor2))
HEARTH_DEFINE_ALL_FORMS(heaviside, (const Tensor& values),
                        pointwise(fn::Heaviside{}, self, check_heaviside(values, self)))

Tensor Tensor::operator-() const { return neg(); }
#define HEARTH_COMPOUND(op, method)                                          \
  Tensor& Tensor::operator op(const Tensor& other) { return method(other); } \
  Tensor& Tensor::operator op(const Scalar& other) { return method(other); }
HEARTH_COMPOUND(+=, add_)
HEARTH_COMPOUND(-=, sub_)
HEARTH_COMPOUND(*=, mul_)
HEARTH_COMPOUND(/=, div_)
#undef HEARTH_COMPOUND

}  // namespace hearth
