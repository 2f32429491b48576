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
  static constexpr OpInfo info{.name = "add"};
  Factor alpha;
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
  static constexpr OpInfo info{.name = "sub", .dtypes = dtypes::kNumbers};
  Factor alpha;
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
  static constexpr OpInfo info{.name = "mul"};
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

/// a / b, true division: integers become the default float.
struct Div {
  static constexpr OpInfo info{
      .name = "div", .dtypes = dtypes::kFloating | dtypes::kComplex, .promote = Promote::kFloat};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return a / b;
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V b) const {
    return g / b;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return -g * ((a / b) / b);
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
  static constexpr OpInfo info{.name = "abs", .dtypes = dtypes::kReal};
  template <class V>
  HEARTH_FN V value(V x) const {
    return abs(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return select(x > 0, g, select(x < 0, -g, 0 * g));
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

/// mask ? value : x.
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

/// The larger one, NaN if either is; ties share the gradient.
struct Maximum {
  static constexpr OpInfo info{.name = "maximum", .dtypes = dtypes::kRealAndBool};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return maximum(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return select(a > b, g, select(a == b, g / 2, 0));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return select(b > a, g, select(a == b, g / 2, 0));
  }
};

/// The smaller one, NaN if either is; ties share the gradient.
struct Minimum {
  static constexpr OpInfo info{.name = "minimum", .dtypes = dtypes::kRealAndBool};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return minimum(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return select(a < b, g, select(a == b, g / 2, 0));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return select(b < a, g, select(a == b, g / 2, 0));
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
    return select(b == 0, 0, g * (b * pow(a, b - 1)));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    const auto safe = select(a > 0, a, 1);
    return select((a == 0) & (b >= 0), 0,
                  g * (pow(a, b) * select(a > 0, log(safe), select(a == 0, -1e38, log(a)))));
  }
};

using Arithmetic =
    List<Copy, Add, Sub, Mul, Div, Neg, Abs, Where, Maximum, Minimum, Pow, MaskedFill>;
HEARTH_NUMBER_FAMILY(Arithmetic)

}  // namespace hearth::fn
