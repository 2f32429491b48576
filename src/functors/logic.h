#pragma once

#include "functors/families.h"

namespace hearth::fn {

#define HEARTH_LOGICAL(Name, op_name, ...)                                     \
  struct Name {                                                                \
    static constexpr OpInfo info{                                              \
        .name = op_name, .dtypes = dtypes::kAll, .promote = Promote::kToBool}; \
    template <class V>                                                         \
    HEARTH_FN auto value(V a, V b) const {                                     \
      return __VA_ARGS__;                                                      \
    }                                                                          \
  };
HEARTH_LOGICAL(LogicalAnd, "logical_and", (a != 0) & (b != 0))
HEARTH_LOGICAL(LogicalOr, "logical_or", (a != 0) | (b != 0))
HEARTH_LOGICAL(LogicalXor, "logical_xor", ((a != 0) & (b == 0)) | ((a == 0) & (b != 0)))
#undef HEARTH_LOGICAL

struct LogicalNot {
  static constexpr OpInfo info{
      .name = "logical_not", .dtypes = dtypes::kAll, .promote = Promote::kToBool};
  template <class V>
  HEARTH_FN auto value(V x) const {
    return x == 0;
  }
};

#define HEARTH_BITWISE(Name, op_name, types, ...)                                          \
  struct Name {                                                                            \
    static constexpr OpInfo info{                                                          \
        .name = op_name, .dtypes = types, .accepts_stored = (types) != dtypes::kIntegers}; \
    template <class V>                                                                     \
    HEARTH_FN V value(V a, V b) const {                                                    \
      return __VA_ARGS__;                                                                  \
    }                                                                                      \
  };
HEARTH_BITWISE(BitwiseAnd, "bitwise_and", dtypes::kIntegers | dtypes::kBool, a& b)
HEARTH_BITWISE(BitwiseOr, "bitwise_or", dtypes::kIntegers | dtypes::kBool, a | b)
HEARTH_BITWISE(BitwiseXor, "bitwise_xor", dtypes::kIntegers | dtypes::kBool, a ^ b)
HEARTH_BITWISE(LeftShift, "bitwise_left_shift", dtypes::kIntegers, shift_left(a, b))
HEARTH_BITWISE(RightShift, "bitwise_right_shift", dtypes::kIntegers, shift_right(a, b))
#undef HEARTH_BITWISE

/// The complement of an integer's bits; bools use LogicalNot instead.
struct BitwiseNot {
  static constexpr OpInfo info{.name = "bitwise_not", .dtypes = dtypes::kIntegers};
  template <class V>
  HEARTH_FN V value(V x) const {
    return ~x;
  }
};

using Logic = List<LogicalAnd, LogicalOr, LogicalXor, LogicalNot, BitwiseAnd, BitwiseOr, BitwiseXor,
                   BitwiseNot, LeftShift, RightShift>;
HEARTH_NUMBER_FAMILY(Logic)

}  // namespace hearth::fn
