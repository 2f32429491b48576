#pragma once

#include "functors/families.h"

namespace hearth::fn {

/// The identity: copies and casts.
struct Copy {
  static constexpr OpInfo info{.name = "copy"};
  template <class V>
  HEARTH_FN V value(V x) const {
    return x;
  }
  template <class V>
  HEARTH_FN V grad(V g, V) const {
    return g;
  }
};

/// a + alpha * b.
struct Add {
  static constexpr OpInfo info{
      .name = "add", .exact_numbers = in_slot(0) | in_slot(1), .exact_numbers_cpu = 0};
  ComplexFactor alpha;
  HEARTH_FIELDS(alpha)
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return a + alpha.as(a) * b;
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V) const {
    return g;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V, V) const {
    return alpha.as(g) * g;
  }
};

/// a - alpha * b.
struct Sub {
  static constexpr OpInfo info{.name = "sub",
                               .dtypes = dtypes::kNumbers,
                               .exact_numbers = in_slot(0) | in_slot(1),
                               .exact_numbers_cpu = 0};
  ComplexFactor alpha;
  HEARTH_FIELDS(alpha)
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return a - alpha.as(a) * b;
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V) const {
    return g;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V, V) const {
    return -(alpha.as(g) * g);
  }
};

/// a * b.
struct Mul {
  static constexpr OpInfo info{.name = "mul",
                               .exact_numbers = in_slot(0) | in_slot(1),
                               .exact_numbers_cpu = in_slot(1),
                               .accepts_stored = true};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return a * b;
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V b) const {
    return g * b;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V) const {
    return g * a;
  }
};

/// -x.
struct Neg {
  static constexpr OpInfo info{.name = "neg", .dtypes = dtypes::kNumbers};
  template <class V>
  HEARTH_FN V value(V x) const {
    return -x;
  }
  template <class V>
  HEARTH_FN V grad(V g, V) const {
    return -g;
  }
};

/// |x|; its gradient at 0 is 0.
struct Abs {
  static constexpr OpInfo info{.name = "abs", .dtypes = dtypes::kReal, .piecewise_linear = true};
  template <class V>
  HEARTH_FN V value(V x) const {
    return abs(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select(x > 0, g, select(x < 0, -g, 0 * g));
  }
};

/// The complex conjugate.
struct Conj {
  static constexpr OpInfo info{.name = "conj", .dtypes = dtypes::kComplex};
  template <class V>
  HEARTH_FN V value(V x) const {
    return conj(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V) const {
    return conj(g);
  }
};

/// x / |x|; 0 for x = 0. It is not analytic: its gradient needs a real part, (w + conj(w)) / 2.
struct ComplexSgn {
  static constexpr OpInfo info{.name = "sgn",
                               .dtypes = 0,
                               .cpu_dtypes = dtypes::kComplex,
                               .complex_grad = ComplexGrad::kOwn};
  template <class V>
  HEARTH_FN V value(V x) const {
    return sgn(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    const V length = abs(x), safe = select(length == 0, 1, length), sign = x / safe;
    const V w = g * conj(sign), along = 0.5 * (w + conj(w));
    return select(length == 0, 0, (g - along * sign) / safe);
  }
};

/// condition ? a : b.
struct Where {
  static constexpr OpInfo info{.name = "where", .arguments = "condition,self,other"};
  template <class V>
  HEARTH_FN V value(V c, V a, V b) const {
    return select(c != 0, a, b);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V c, V, V) const {
    return select(c != 0, g, 0);
  }
  template <class V>
  HEARTH_FN V grad_c(V g, V c, V, V) const {
    return select(c != 0, 0, g);
  }
};

/// mask ? filling : x.
struct MaskedFill {
  static constexpr OpInfo info{.name = "masked_fill", .arguments = "self,mask,value"};
  template <class V>
  HEARTH_FN V value(V x, V mask, V filling) const {
    return select(mask != 0, filling, x);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V mask, V) const {
    return select(mask != 0, 0, g);
  }
  template <class V>
  HEARTH_FN V grad_c(V g, V, V mask, V) const {
    return select(mask != 0, g, 0);
  }
};

/// a to the power b.
struct Pow {
  static constexpr OpInfo info{
      .name = "pow", .dtypes = dtypes::kReal, .amp = Amp::kFloat32, .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return pow(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    const V safe = select(b == 0, 1, b);  // the unused branch must have finite derivatives
    return select(b == 0, 0, g * (safe * pow(a, safe - 1)));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    const auto safe = select(a > 0, a, 1);
    // -1e38 in place of log(0): the product must be finite even where select chooses 0.
    return select((a == 0) & (b >= 0), 0,
                  g * (pow(a, b) * select(a > 0, log(safe), select(a == 0, -1e38, log(a)))));
  }
};

/// a to the power b for complex numbers; 0 to the power 0 is 1.
struct ComplexPow {
  static constexpr OpInfo info{.name = "pow",
                               .overload = "complex",
                               .dtypes = 0,
                               .cpu_dtypes = dtypes::kComplex,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return pow(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    const V safe = select(b == 0, 1, b);  // the unused branch must have finite derivatives
    return select(b == 0, 0, g * (safe * pow(a, safe - 1)));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return select((a == 0) & (b == abs(b)), 0, g * (pow(a, b) * log(a)));  // b real, not negative
  }
};

/// x²: pow with the number 2 as exponent.
struct Square {
  static constexpr OpInfo info{.name = "pow",
                               .overload = "square",
                               .dtypes = dtypes::kNumbers,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V x) const {
    return x * x;
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * (2 * x);
  }
};

/// x³: pow with the number 3 as exponent.
struct Cube {
  static constexpr OpInfo info{.name = "pow",
                               .overload = "cube",
                               .dtypes = dtypes::kNumbers,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V x) const {
    return x * x * x;
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * (3 * (x * x));
  }
};

/// sqrt(x): pow with the number 0.5 as exponent. It differs from Pow at -0 and minus infinity.
struct PowHalf {
  static constexpr OpInfo info{.name = "pow",
                               .overload = "sqrt",
                               .dtypes = dtypes::kFloating,
                               .cpu_dtypes = dtypes::kComplex,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V x) const {
    return sqrt(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * (0.5 * rsqrt(x));
  }
};

/// 1 / sqrt(x): pow with the number -0.5 as exponent.
struct PowMinusHalf {
  static constexpr OpInfo info{.name = "pow",
                               .overload = "rsqrt",
                               .dtypes = dtypes::kFloating,
                               .cpu_dtypes = dtypes::kComplex,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V x) const {
    return rsqrt(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * (-0.5 * pow(x, V(-1.5)));
  }
};

/// The sign of x: -1, 0 or 1; 0 for NaN.
struct Sign {
  static constexpr OpInfo info{.name = "sign", .dtypes = dtypes::kRealAndBool};
  template <class V>
  HEARTH_FN V value(V x) const {
    return select(x > 0, 1, select(x < 0, V(-1), V(0)));
  }
  template <class V>
  HEARTH_FN V grad(V g, V) const {
    return zero_like(g);
  }
};

/// a + weight * (b - a), computed from the nearer end.
struct Lerp {
  static constexpr OpInfo info{.name = "lerp",
                               .arguments = "self,end,weight",
                               .dtypes = dtypes::kFloating,
                               .cpu_dtypes = dtypes::kComplex};
  template <class V>
  HEARTH_FN V value(V a, V b, V weight) const {
    return select(abs(weight) < 0.5, a + weight * (b - a), b - (b - a) * (1 - weight));
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V, V weight) const {
    return g * (1 - weight);
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V, V, V weight) const {
    return g * weight;
  }
  template <class V>
  HEARTH_FN V grad_c(V g, V a, V b, V) const {
    return g * (b - a);
  }
};

/// x + factor * a * b.
struct Addcmul {
  static constexpr OpInfo info{.name = "addcmul",
                               .arguments = "self,tensor1,tensor2",
                               .dtypes = dtypes::kNumbers,
                               .amp = Amp::kWidest,
                               .amp_cpu = Amp::kKeep};
  ComplexFactor factor;
  HEARTH_FIELDS(factor)
  template <class V>
  HEARTH_FN V value(V x, V a, V b) const {
    return x + factor.as(x) * a * b;
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V, V) const {
    return g;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V, V, V b) const {
    return g * (b * factor.as(g));
  }
  template <class V>
  HEARTH_FN V grad_c(V g, V, V a, V) const {
    return g * (a * factor.as(g));
  }
};

/// x + factor * a / b.
struct Addcdiv {
  static constexpr OpInfo info{.name = "addcdiv",
                               .arguments = "self,tensor1,tensor2",
                               .dtypes = dtypes::kFloating | dtypes::kComplex,
                               .amp = Amp::kWidest,
                               .amp_cpu = Amp::kKeep};
  ComplexFactor factor;
  HEARTH_FIELDS(factor)
  template <class V>
  HEARTH_FN V value(V x, V a, V b) const {
    return x + factor.as(x) * a / b;
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V, V) const {
    return g;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V, V, V b) const {
    return g * (factor.as(g) / b);
  }
  template <class V>
  HEARTH_FN V grad_c(V g, V, V a, V b) const {
    return -g * (factor.as(g) * a / (b * b));
  }
};

/// 0 where a < 0, b where a is 0, 1 where a > 0.
struct Heaviside {
  static constexpr OpInfo info{
      .name = "heaviside", .arguments = "self,values", .dtypes = dtypes::kRealAndBool};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return select(a == 0, b, select(a > 0, V(1), V(0)));
  }
};

using Arithmetic =
    List<Copy, Add, Sub, Mul, Neg, Abs, Conj, ComplexSgn, Where, MaskedFill, Pow, ComplexPow,
         Square, Cube, PowHalf, PowMinusHalf, Sign, Lerp, Addcmul, Addcdiv, Heaviside>;
HEARTH_NUMBER_FAMILY(Arithmetic)

}  // namespace hearth::fn
