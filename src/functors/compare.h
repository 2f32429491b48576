#pragma once

#include "functors/families.h"

namespace hearth::fn {

#define HEARTH_COMPARISON(Name, op_name, op, types)                        \
  struct Name {                                                            \
    static constexpr OpInfo info{.name = op_name,                          \
                                 .dtypes = types,                          \
                                 .promote = Promote::kToBool,              \
                                 .accepts_stored = types == dtypes::kAll}; \
    template <class V>                                                     \
    HEARTH_FN auto value(V a, V b) const {                                 \
      return a op b;                                                       \
    }                                                                      \
  };
HEARTH_COMPARISON(Eq, "eq", ==, dtypes::kAll)
HEARTH_COMPARISON(Ne, "ne", !=, dtypes::kAll)
HEARTH_COMPARISON(Lt, "lt", <, dtypes::kRealAndBool)
HEARTH_COMPARISON(Le, "le", <=, dtypes::kRealAndBool)
HEARTH_COMPARISON(Gt, "gt", >, dtypes::kRealAndBool)
HEARTH_COMPARISON(Ge, "ge", >=, dtypes::kRealAndBool)
#undef HEARTH_COMPARISON

#define HEARTH_TEST(Name, op_name, further, ...)                  \
  struct Name {                                                   \
    static constexpr OpInfo info{.name = op_name,                 \
                                 .dtypes = dtypes::kRealAndBool,  \
                                 .cpu_dtypes = further,           \
                                 .promote = Promote::kToBool,     \
                                 .accepts_stored = further != 0}; \
    template <class V>                                            \
    HEARTH_FN auto value(V x) const {                             \
      return __VA_ARGS__;                                         \
    }                                                             \
  };
HEARTH_TEST(IsNan, "isnan", dtypes::kComplex, isnan(x))
HEARTH_TEST(IsInf, "isinf", dtypes::kComplex, isinf(x))
HEARTH_TEST(IsFinite, "isfinite", dtypes::kComplex, !(isnan(x) | isinf(x)))
HEARTH_TEST(IsPosInf, "isposinf", 0, isinf(x) & (x > 0))
HEARTH_TEST(IsNegInf, "isneginf", 0, isinf(x) & (x < 0))
HEARTH_TEST(SignBit, "signbit", 0, signbit(x))
#undef HEARTH_TEST

using Compare = List<Eq, Ne, Lt, Le, Gt, Ge, IsNan, IsInf, IsFinite, IsPosInf, IsNegInf, SignBit>;
HEARTH_NUMBER_FAMILY(Compare)

}  // namespace hearth::fn
