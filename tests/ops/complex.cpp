// Rows of elementwise ops on complex numbers, and tests of special values, views, promotion and
// refusals. complex_shapes.cpp has the rows of the other ops.
#include "tests/ops/complex_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hearth/autograd.h"
#include "hearth/tensor_literal.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

// The imaginary unit in references and in calls.
const C kUnit(0, 1);
const complex<double> kI(0, 1);

/// A row whose result is real.
Row real_row(std::string name, std::function<Tensor(const Tensors&)> op,
             std::function<C(const C*)> reference) {
  return complex_row(std::move(name), 1, std::move(op), std::move(reference), Draw::kNormal, true);
}

#define UNARY(name, draw) Register(covering_complex(COMPLEX_ROW(name, draw, std::name(z)), {#name}))

const Register registered_complex[] = {
    UNARY(exp, Draw::kNormal), UNARY(log, Draw::kNormal), UNARY(sqrt, Draw::kNormal),
    UNARY(sin, Draw::kNormal), UNARY(cos, Draw::kNormal), UNARY(tan, Draw::kUnit),
    UNARY(asin, Draw::kNormal), UNARY(acos, Draw::kNormal), UNARY(atan, Draw::kNormal),
    UNARY(sinh, Draw::kNormal), UNARY(cosh, Draw::kNormal), UNARY(tanh, Draw::kUnit),
    UNARY(asinh, Draw::kNormal), UNARY(acosh, Draw::kNormal), UNARY(atanh, Draw::kNormal),
    UNARY(log10, Draw::kNormal),
    Register(COMPLEX_ROW(log2, Draw::kNormal, std::log(z) / std::log(2.0))),
    Register(COMPLEX_ROW(exp2, Draw::kNormal, std::exp(z * std::log(2.0)))),
    Register(COMPLEX_ROW(expm1, Draw::kNormal, std::exp(z) - 1.0)),
    Register(COMPLEX_ROW(log1p, Draw::kPositive, std::log(1.0 + z))),
    Register(COMPLEX_ROW(rsqrt, Draw::kNormal, 1.0 / std::sqrt(z))),
    Register(COMPLEX_ROW(sigmoid, Draw::kUnit, 1.0 / (1.0 + std::exp(-z)))),
    Register(COMPLEX_ROW(silu, Draw::kUnit, z / (1.0 + std::exp(-z)))),
    Register(COMPLEX_ROW(reciprocal, Draw::kNormal, 1.0 / z)),
    Register(COMPLEX_ROW(neg, Draw::kNormal, -z)),
    Register(COMPLEX_ROW(conj, Draw::kNormal, std::conj(z))),
    Register(COMPLEX_ROW(sgn, Draw::kNormal, z / std::abs(z))),
    Register(covering_complex(COMPLEX_ROW(square, Draw::kNormal, z* z), {"pow.square"})),
    Register(covering_complex(real_row("abs", [](const Tensors& in) { return in[0].abs(); },
                               [](const C* z) -> C { return std::abs(*z); }),
                      {"abs.complex"})),
    Register(covering_complex(real_row("angle", [](const Tensors& in) { return in[0].angle(); },
                               [](const C* z) -> C { return std::arg(*z); }),
                      {"angle.complex"})),
    Register(covering_complex(real_row("parts", [](const Tensors& in) { return real(in[0]) * imag(in[0]); },
                               [](const C* z) -> C { return z->real() * z->imag(); }),
                      {"complex", "view_as_real"})),
    Register(COMPLEX_ROW2(add, a.add(b, Scalar(kI)), a + kUnit * b)),
    Register(COMPLEX_ROW2(sub, a.sub(b, Scalar(complex<double>(2, -1))), a - C(2, -1) * b)),
    Register(COMPLEX_ROW2(mul, a* b, a* b)),
    Register(COMPLEX_ROW2(div, a / b, a / b)),
    Register(covering_complex(COMPLEX_ROW2(pow, a.pow(b), std::pow(a, b)), {"pow.complex"})),
    Register(covering_complex(COMPLEX_ROW2(pow_of_number, hearth::pow(Scalar(-2), a * 0.25) + b,
                                   std::pow(C(-2), a * 0.25) + b),
                      {"pow.complex"})),
    Register(covering_complex(COMPLEX_ROW2(pow_by_number, a.pow(2.5) * b.pow(3).pow(Scalar(kI)),
                                   std::pow(a, 2.5) * std::pow(b * b * b, kUnit)),
                      {"pow.complex", "pow.cube"})),
    Register(covering_complex(COMPLEX_ROW2(roots, a.pow(0.5) * b.pow(-0.5), std::sqrt(a) / std::sqrt(b)),
                      {"pow.complex"})),
    Register(COMPLEX_ROW2(addcmul, a.addcmul(a, b, Scalar(kI)), a + kUnit * a * b)),
    Register(COMPLEX_ROW2(addcdiv, a.addcdiv(a, b, Scalar(kI)), a + kUnit * a / b)),
    Register(COMPLEX_ROW2(lerp, a.lerp(b, a), std::abs(a) < 0.5 ? a + a * (b - a)
                                                                : b - (b - a) * (1.0 - a))),
    Register(COMPLEX_ROW2(where, hearth::where(real(a).gt(0), a, b), a.real() > 0 ? a : b)),
    Register(covering_complex(COMPLEX_ROW2(masked_fill, a.masked_fill(real(b).gt(0), Scalar(kI)) * b,
                                   (b.real() > 0 ? kUnit : a) * b),
                      {"masked_fill"})),
    // Rows that mix real and complex tensors: the gradients of real tensors are real.
    Register(covering_complex(COMPLEX_ROW2(mixed, (real(a) * b + imag(b)) / real(b) - kI * imag(a),
                                   (a.real() * b + b.imag()) / b.real() - kUnit * a.imag()),
                      {"mul"})),
    Register(covering_complex(COMPLEX_ROW2(mixed_pow, real(a).pow(b), std::pow(C(a.real()), b)),
                      {"pow.complex"})),
    Register(covering_complex(COMPLEX_ROW2(polar, polar(real(a), imag(a)) * b,
                                   a.real() * std::exp(kUnit * a.imag()) * b),
                      {"complex"})),
    Register(covering_complex(COMPLEX_ROW2(in_place, a.clone().mul_(b).add_(imag(a)).div_(b).conj_physical_(),
                                   std::conj((a * b + a.imag()) / b)),
                      {"mul"})),
    Register(covering_complex(COMPLEX_ROW2(write_parts,
                                   [&] {
                                     const Tensor z = a * 1;
                                     real(z).mul_(imag(b));
                                     view_as_real(z).sin_();
                                     return z * b;
                                   }(),
                                   C(std::sin(a.real() * b.imag()), std::sin(a.imag())) * b),
                      {"view_as_real"})),
};

Tensor numbers(std::vector<complex<float>> values) {
  return from_blob(values.data(), {int64_t(values.size())}, TensorOptions(kComplexFloat)).clone();
}

complex<double> item_of(const Tensor& t) { return t.item<complex<double>>(); }

TEST(Complex, ZeroHasDefinedValuesAndGradients) {
  const Tensor z = zeros({1}, TensorOptions(kComplexDouble)).requires_grad_();
  const auto gradient = [&](const Tensor& y) {
    return item_of(autograd::grad({y.is_complex() ? real(y).sum() : y.sum()}, {z})[0]);
  };
  EXPECT_EQ(gradient(z.abs()), complex<double>(0));
  EXPECT_EQ(gradient(z.angle()), complex<double>(0));
  EXPECT_EQ(gradient(z.sgn()), complex<double>(0));
  EXPECT_EQ(gradient(z.pow(0)), complex<double>(0));
  EXPECT_EQ(item_of(z.pow(Scalar(complex<double>(0)))), complex<double>(1));
  EXPECT_EQ(item_of(z.pow(2.5)), complex<double>(0));
}

/// As LibTorch on the CPU.
TEST(Complex, TheSignOfAZeroDivisorDoesNotCount) {
  for (const ScalarType type : {kComplexFloat, kComplexDouble})
    for (const int64_t n : {1, 9}) {
      const Tensor x = full({n}, Scalar(complex<double>(1, 1)), type);
      const auto is_infinite = [](const Tensor& y) {
        return view_as_real(y).eq(INFINITY).all().item<bool>();
      };
      for (const double real : {0.0, -0.0}) {
        for (const double imag : {0.0, -0.0}) {
          const Scalar zero(complex<double>(real, imag));
          EXPECT_TRUE(is_infinite(x / full({n}, zero, type))) << real << ' ' << imag;
          EXPECT_TRUE(is_infinite(x / zero)) << real << ' ' << imag;
        }
        EXPECT_TRUE(is_infinite(x / full({n}, real))) << real;
        EXPECT_TRUE(is_infinite(x / real)) << real;
      }
    }
}

/// dy/dz by the values left and right of z, which must be on z's side of a branch cut.
C slope(const std::function<Tensor(const Tensor&)>& f, C z) {
  const auto at = [&](C x) {
    return C(item_of(f(full({}, Scalar(complex<double>(x.real(), x.imag())), kComplexDouble))));
  };
  const double step = 1e-6;
  return (at(z + step) - at(z - step)) / (2 * step);
}

/// dy/dz by backward: the gradient of the real part is conj(dy/dz).
C derivative(const std::function<Tensor(const Tensor&)>& f, C z) {
  const Tensor x = full({}, Scalar(complex<double>(z.real(), z.imag())), kComplexDouble);
  x.requires_grad_();
  return std::conj(C(item_of(autograd::grad({real(f(x))}, {x})[0])));
}

TEST(Complex, GradientsOnBranchCutsFollowTheSignOfZero) {
  const std::map<std::string, std::function<Tensor(const Tensor&)>> functions{
      {"asin", [](const Tensor& z) { return z.asin(); }},
      {"acos", [](const Tensor& z) { return z.acos(); }},
      {"acosh", [](const Tensor& z) { return z.acosh(); }}};
  for (const auto& [name, f] : functions)
    for (const C z : {C(-2, 0.0), C(-2, -0.0), C(2, 0.0), C(2, -0.0), C(0.5, 0.0), C(0.5, -0.0),
                      C(-0.5, 0.0), C(-0.5, -0.0), C(1, 2), C(-1, -2)}) {
      const C side(0, std::signbit(z.imag()) ? -1e-9 : 1e-9);
      const C wanted = slope(f, z + side), got = derivative(f, z);
      EXPECT_LT(std::abs(got - wanted), 1e-6)
          << name << " at " << z << ": " << got << ", not " << wanted;
    }
}

/// The gradient, with respect to z, of the real part of y's gradient times v.
Tensor second_gradient(const Tensor& y, const Tensor& z, const Tensor& v) {
  const Tensor first = autograd::grad({y}, {z}, {}, true, true)[0];
  return autograd::grad({real(first * v).sum()}, {z})[0];
}

TEST(Complex, SecondDerivativesAtZero) {
  const Tensor z = view_as_complex(tensor({3.0, 4.0, 0.0, 0.0}, kDouble).view({2, 2}).clone());
  z.requires_grad_();
  const Tensor v = full({2}, Scalar(complex<double>(2, -1)), kComplexDouble);
  // The norm is 5. Where an entry is 0, its second derivative is 1 / 5 along both axes.
  EXPECT_LT(std::abs(C(item_of(second_gradient(z.norm(), z, v)[1])) - C(0.4, 0.2)), 1e-12);
  const Tensor kept = linalg_vector_norm(z, 2, IntArrayRef({0}), true);
  EXPECT_EQ(kept.sizes(), IntArrayRef({1}));
  EXPECT_LT(std::abs(C(item_of(second_gradient(kept, z, v)[1])) - C(0.4, 0.2)), 1e-12);
  const Tensor zero = zeros({1}, kComplexDouble).requires_grad_();
  const Tensor g = ones({1}, kDouble).requires_grad_();
  const Tensor first = autograd::grad({zero.abs()}, {zero}, {g}, true, true)[0];
  EXPECT_EQ(item_of(autograd::grad({real(first * v[0]).sum()}, {zero})[0]), complex<double>(0));
}

TEST(Complex, StdOfEqualNumbersHasTheGradientZero) {
  const Tensor z = full({3}, Scalar(complex<double>(1, -2)), kComplexDouble).requires_grad_();
  const Tensor y = z.std();
  EXPECT_EQ(y.item<double>(), 0);
  EXPECT_TRUE(autograd::grad({y}, {z})[0].eq(0).all().item<bool>());
}

TEST(Complex, ViewsAtOddOffsetsOfRealNumbers) {
  const Tensor z = ones({2}, kComplexDouble).requires_grad_();
  const Tensor parts = arange(5, kDouble).narrow(0, 1, 4).view({2, 2});
  EXPECT_EQ(item_of(autograd::grad({view_as_real(z)}, {z}, {parts})[0][1]), complex<double>(3, 4));
  const Tensor base = arange(6, kDouble).narrow(0, 1, 5).detach();  // elements 1 to 5
  const Tensor factor = full({2}, Scalar(complex<double>(0, 2)), kComplexDouble).requires_grad_();
  view_as_complex(base.narrow(0, 1, 4).view({2, 2})).mul_(factor);  // 2+3i and 4+5i
  const Tensor weights = arange(1, 6, kDouble);
  const Tensor got = autograd::grad({(base * weights).sum()}, {factor})[0];
  EXPECT_EQ(item_of(got[0]), complex<double>(2, 3) * complex<double>(2, -3));
  EXPECT_EQ(item_of(got[1]), complex<double>(4, 5) * complex<double>(4, -5));
}

TEST(Complex, ComplexFunctionsAcceptRealTensors) {
  const Tensor x = tensor({-1.5, 0.0, 2.0});
  EXPECT_TRUE(x.conj().is_same(x) && real(x).is_same(x) && x.resolve_conj().is_same(x));
  EXPECT_TRUE(x.angle().equal(tensor({M_PI, 0.0, 0.0}).to(kFloat)));
  EXPECT_EQ(tensor({-1, 2}).angle().scalar_type(), kFloat);
  EXPECT_TRUE(full({}, NAN).angle().isnan().item<bool>());
  EXPECT_TRUE(x.isreal().all().item<bool>() && !x.is_conj());
}

TEST(Complex, PromotionOfRealAndComplexOperands) {
  const Scalar i(kI);
  EXPECT_EQ((ones({2}) * i).scalar_type(), kComplexFloat);
  EXPECT_EQ((ones({2}, kLong) * i).scalar_type(), kComplexFloat);
  EXPECT_EQ((ones({2}, kDouble) * i).scalar_type(), kComplexDouble);
  EXPECT_EQ((ones({2}, kHalf) * i).scalar_type(), kComplexFloat);
  EXPECT_EQ((ones({2}, kComplexFloat) + ones({2}, kDouble)).scalar_type(), kComplexDouble);
  EXPECT_EQ((ones({2}, kComplexFloat) + ones({}, kDouble)).scalar_type(), kComplexFloat);
  EXPECT_EQ(full({2}, i).scalar_type(), kComplexFloat);
  EXPECT_EQ(hearth::pow(Scalar(2), ones({}, kComplexFloat)).scalar_type(), kComplexFloat);
}

TEST(Complex, PredicatesConsiderBothParts) {
  const float nan = NAN, inf = INFINITY;
  const Tensor z = numbers({{1, 0}, {nan, 1}, {1, nan}, {inf, 0}, {0, -inf}, {1, 2}});
  const auto is = [](const Tensor& t, std::vector<bool> wanted) {
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(t[int64_t(i)].item<bool>(), wanted[i]) << "element " << i;
  };
  is(z.isnan(), {false, true, true, false, false, false});
  is(z.isinf(), {false, false, false, true, true, false});
  is(z.isfinite(), {true, false, false, false, false, true});
  is(z.isreal(), {true, false, false, true, false, false});
  is(z.eq(1), {true, false, false, false, false, false});
  is(z.ne(numbers({{1, 1}, 0, 0, {inf, 0}, {0, inf}, {1, 2}})),
     {true, true, true, false, true, false});
  is(z.logical_not(), {false, false, false, false, false, false});
  is(numbers({{0, 0}, {0, 1}}).logical_and(numbers({1, 1})), {false, true});
  const Tensor a = numbers({{1, 2}, {3, 4}}), b = numbers({{1, 2.00001f}, {3, 5}});
  is(a.isclose(b), {true, false});
  EXPECT_FALSE(a.allclose(b) || a.equal(b));
  EXPECT_TRUE(a.equal(a.clone()));
}

TEST(Complex, OutFormsAndInPlaceForms) {
  const Tensor z = numbers({{3, 4}, {0, -2}});
  Tensor real_out = empty({2}), out = empty({2}, kComplexFloat);
  abs_out(real_out, z);
  EXPECT_TRUE(real_out.equal(tensor({5.f, 2.f})));
  angle_out(real_out, z);
  EXPECT_FLOAT_EQ(real_out[1].item<float>(), -float(M_PI) / 2);
  conj_physical_out(out, z);
  EXPECT_TRUE(out.equal(numbers({{3, -4}, {0, 2}})));
  make_complex_out(out, tensor({1.f, 2.f}), tensor({3.f, 4.f}));
  EXPECT_TRUE(out.equal(numbers({{1, 3}, {2, 4}})));
  polar_out(out, tensor({2.f, 1.f}), tensor({0.f, 0.f}));
  EXPECT_TRUE(out.equal(numbers({2, 1})));
  EXPECT_TRUE(z.clone().pow_(2).equal(z * z));
}

TEST(Complex, ErrorsNameTheUndefinedPart) {
  const Tensor x = ones({2}), none;
  Tensor out;
  EXPECT_ERROR(make_complex(none, x), "#0 'real'");
  EXPECT_ERROR(make_complex(x, none), "#1 'imag'");
  EXPECT_ERROR(polar(none, x), "#0 'abs'");
  EXPECT_ERROR(polar(x, none), "#1 'angle'");
  EXPECT_ERROR(polar_out(out, x, none), "#1 'angle'");
}

TEST(Complex, ErrorsForHalfNameTheOp) {
  const Tensor half = ones({2}, kHalf);
  EXPECT_ERROR(make_complex(half, half), "complex: there is no complex dtype with parts of dtype");
  EXPECT_ERROR(polar(half, half), "polar: there is no complex dtype with parts of dtype Half");
}

TEST(Complex, PowersThatAreRootsOrInversesUseNoLogarithm) {
  const Tensor z = full({}, Scalar(complex<double>(INFINITY, 0)), kComplexDouble);
  EXPECT_EQ(item_of(z.pow(0.5)), complex<double>(INFINITY, 0));
  const Tensor x = full({}, Scalar(complex<double>(0, 2)), kComplexDouble).requires_grad_();
  EXPECT_EQ(item_of(x.pow(-1)), complex<double>(0, -0.5));
  EXPECT_EQ(item_of(x.pow(-2)), complex<double>(-0.25, 0));
  EXPECT_EQ(item_of(x.detach().clone().pow_(-2)), complex<double>(-0.25, 0));
  EXPECT_TRUE(x.pow(0.5).equal(x.sqrt()) && x.pow(-0.5).equal(x.rsqrt()));
  for (const double exponent : {0.5, -0.5, -1.0, -2.0}) {
    const C got(item_of(autograd::grad({real(x.pow(exponent))}, {x})[0]));
    EXPECT_LT(std::abs(got - std::conj(exponent * std::pow(C(0, 2), exponent - 1))), 1e-12);
  }
}

TEST(Complex, SumsWithComplexFactorsCheckTheirOperands) {
  const auto refuses = [](const Tensor& self, const Tensor& a, const Tensor& b, bool batch) {
    const auto text = [&](const Scalar& factor) -> std::string {
      try {
        (void)(batch ? self.baddbmm(a, b, 1, factor) : self.addmm(a, b, 1, factor));
      } catch (const Error& error) {
        return error.what_without_backtrace();
      }
      return "no error";
    };
    EXPECT_NE(text(Scalar(kI)), "no error");
    EXPECT_EQ(text(Scalar(kI)), text(2));
  };
  const Tensor m = ones({2, 2}, kComplexFloat), batch = ones({3, 2, 2}, kComplexFloat);
  refuses(batch, m, m, false);
  refuses(m, m[0], m[0], false);
  refuses(m, m[0], m, false);
  refuses(m, batch, m, false);
  refuses(m, m, m.to(kComplexDouble), false);
  refuses(m.to(kComplexDouble), m, m, false);
  refuses(m, m, m, true);
  refuses(batch, batch, m, true);
  refuses(m, batch, batch.to(kComplexDouble), true);
}

TEST(Complex, SumsWithoutSelfDoNotReadIt) {
  const Tensor m = ones({1, 2, 2}, kComplexFloat), nan = full({1, 2, 2}, NAN, kComplexFloat);
  const Tensor wanted = m * 2 * Scalar(kI);
  EXPECT_TRUE(nan.baddbmm(m, m, 0, Scalar(kI)).equal(wanted));
  EXPECT_TRUE(nan[0].addmm(m[0], m[0], 0, Scalar(kI)).equal(wanted[0]));
}

TEST(Complex, RefusalsHavePyTorchsTexts) {
  const Tensor z = numbers({{1, 2}, {3, 4}}), x = ones({2});
  const auto text = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what_without_backtrace();
    }
    return "no error";
  };
  EXPECT_EQ(text([&] { z.abs_(); }), "In-place abs is not supported for complex tensors.");
  EXPECT_NE(text([&] { z.sign(); }).find("Unlike NumPy, torch.sign"), std::string::npos);
  EXPECT_EQ(text([&] { imag(x); }), "imag is not implemented for tensors with non-complex dtypes.");
  EXPECT_EQ(text([&] { make_complex(x, x.to(kDouble)); }),
            "Expected object of scalar type Float but got scalar type Double for second argument");
  EXPECT_EQ(text([&] { make_complex(x, x.to(kInt)); }),
            "Expected both inputs to be Half, Float or Double tensors but got Float and Int");
  EXPECT_EQ(text([&] { x.add(x, Scalar(kI)); }),
            "For non-complex input tensors, argument alpha must not be a complex number.");
  EXPECT_EQ(text([&] { x.clone().mul_(Scalar(kI)); }),
            "result type ComplexFloat can't be cast to the desired output type Float");
  EXPECT_EQ(text([&] { x.masked_fill(x.gt(0), Scalar(kI)); }),
            "value cannot be converted to type float without overflow");
  EXPECT_EQ(text([&] { view_as_real(x); }), "view_as_real is only supported for complex tensors");
  EXPECT_EQ(text([&] { view_as_complex(x[0]); }), "Input tensor must have one or more dimensions");
  EXPECT_EQ(text([&] { view_as_complex(ones({3})); }),
            "Tensor must have a last dimension of size 2");
  EXPECT_EQ(text([&] {
              view_as_complex(ones({2, 2}).t());
            }),
            "Tensor must have a last dimension with stride 1");
  EXPECT_EQ(text([&] {
              view_as_complex(ones({2, 3}).narrow(1, 0, 2));
            }),
            "Tensor must have a stride divisible by 2 for all but last dimension");
  EXPECT_EQ(text([&] { view_as_complex(ones({5}).narrow(0, 1, 2)); }),
            "Tensor must have a storage_offset divisible by 2");
  EXPECT_NE(text([&] { z.lt(z); }), "no error");
  EXPECT_NE(text([&] { z.max(); }), "no error");
  EXPECT_NE(text([&] { z.erf(); }), "no error");
  EXPECT_NE(text([&] { z.relu(); }), "no error");
}

}  // namespace
}  // namespace hearth::testing
