#pragma once

#include "functors/families.h"

namespace hearth::fn {

struct Exp {
  static constexpr OpInfo info{.name = "exp",
                               .dtypes = dtypes::kFloating,
                               .promote = Promote::kFloat,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .grad_of_output = true};
  template <class V>
  HEARTH_FN V value(V x) const {
    return exp(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V y) const {
    return g * y;
  }
};

struct Expm1 {
  static constexpr OpInfo info{.name = "expm1",
                               .dtypes = dtypes::kFloating,
                               .promote = Promote::kFloat,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .grad_of_output = true};
  template <class V>
  HEARTH_FN V value(V x) const {
    return expm1(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V y) const {
    return g * (y + 1);
  }
};

struct Log {
  static constexpr OpInfo info{.name = "log",
                               .dtypes = dtypes::kFloating,
                               .promote = Promote::kFloat,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V x) const {
    return log(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g / x;
  }
};

struct Log1p {
  static constexpr OpInfo info{.name = "log1p",
                               .dtypes = dtypes::kFloating,
                               .promote = Promote::kFloat,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V x) const {
    return log1p(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g / (x + 1);
  }
};

struct Sqrt {
  static constexpr OpInfo info{.name = "sqrt",
                               .dtypes = dtypes::kFloating,
                               .promote = Promote::kFloat,
                               .grad_of_output = true};
  template <class V>
  HEARTH_FN V value(V x) const {
    return sqrt(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V y) const {
    return g / (2 * y);
  }
};

struct Rsqrt {
  static constexpr OpInfo info{.name = "rsqrt",
                               .dtypes = dtypes::kFloating,
                               .promote = Promote::kFloat,
                               .amp = Amp::kFloat32,
                               .amp_cpu = Amp::kKeep,
                               .grad_of_output = true};
  template <class V>
  HEARTH_FN V value(V x) const {
    return rsqrt(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V y) const {
    return -0.5 * g * y * y * y;
  }
};

struct Tanh {
  static constexpr OpInfo info{.name = "tanh",
                               .dtypes = dtypes::kFloating,
                               .promote = Promote::kFloat,
                               .grad_of_output = true};
  template <class V>
  HEARTH_FN V value(V x) const {
    return tanh(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V y) const {
    return g * (1 - y * y);
  }
};

struct Erf {
  static constexpr OpInfo info{
      .name = "erf", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  static constexpr double kTwoInvSqrtPi = 1.12837916709551257390;
  template <class V>
  HEARTH_FN V value(V x) const {
    return erf(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * (kTwoInvSqrtPi * exp(-(x * x)));
  }
};

struct Erfc {
  static constexpr OpInfo info{
      .name = "erfc", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  template <class V>
  HEARTH_FN V value(V x) const {
    return erfc(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * (-Erf::kTwoInvSqrtPi * exp(-(x * x)));
  }
};

struct Sin {
  static constexpr OpInfo info{
      .name = "sin", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  template <class V>
  HEARTH_FN V value(V x) const {
    return sin(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return g * cos(x);
  }
};

struct Cos {
  static constexpr OpInfo info{
      .name = "cos", .dtypes = dtypes::kFloating, .promote = Promote::kFloat};
  template <class V>
  HEARTH_FN V value(V x) const {
    return cos(x);
  }
  template <class V>
  HEARTH_FN V grad(V g, V x) const {
    return -(g * sin(x));
  }
};

/// The angle of the point (b, a).
struct Atan2 {
  static constexpr OpInfo info{.name = "atan2",
                               .dtypes = dtypes::kFloating,
                               .promote = Promote::kFloat,
                               .amp = Amp::kWidest,
                               .amp_cpu = Amp::kKeep};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return atan2(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V a, V b) const {
    return g * (b / (a * a + b * b));
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return g * (-a / (a * a + b * b));
  }
};

/// The remainder of a / b with the sign of a.
struct Fmod {
  static constexpr OpInfo info{.name = "fmod", .dtypes = dtypes::kReal};
  template <class V>
  HEARTH_FN V value(V a, V b) const {
    return fmod(a, b);
  }
  template <class V>
  HEARTH_FN V grad_a(V g, V, V) const {
    return g;
  }
  template <class V>
  HEARTH_FN V grad_b(V g, V a, V b) const {
    return -g * trunc(a / b);
  }
};

/// Rounding functions are flat: their gradient is zero.
#define HEARTH_ROUNDING(Name, function)                                       \
  struct Name {                                                               \
    static constexpr OpInfo info{.name = #function, .dtypes = dtypes::kReal}; \
    template <class V>                                                        \
    HEARTH_FN V value(V x) const {                                            \
      return function(x);                                                     \
    }                                                                         \
    template <class V>                                                        \
    HEARTH_FN V grad(V g, V) const {                                          \
      return 0 * g;                                                           \
    }                                                                         \
  };
HEARTH_ROUNDING(Floor, floor)
HEARTH_ROUNDING(Ceil, ceil)
HEARTH_ROUNDING(Round, round)
HEARTH_ROUNDING(Trunc, trunc)
#undef HEARTH_ROUNDING

using Math = List<Exp, Expm1, Log, Log1p, Sqrt, Rsqrt, Tanh, Erf, Erfc, Sin, Cos, Atan2, Fmod,
                  Floor, Ceil, Round, Trunc>;
HEARTH_NUMBER_FAMILY(Math)

}  // namespace hearth::fn
