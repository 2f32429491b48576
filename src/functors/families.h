#pragma once

#include "functors/hd.h"

/// Every family of pointwise functors, one line each: X(Name) stands for fn::Name, the List at the
/// end of functors/name.h (of functors/two_words.h for TwoWords). cmake/GeneratedUnits.cmake reads
/// these lines too: each family is compiled by itself for each target.
#define HEARTH_FUNCTOR_FAMILIES(X) \
  X(Activation)                    \
  X(Arithmetic)                    \
  X(Bounds)                        \
  X(Compare)                       \
  X(Division)                      \
  X(Logic)                         \
  X(Loss)                          \
  X(Math)                          \
  X(Trig)

namespace hearth::fn {

enum class Family : int {
#define HEARTH_FAMILY_NUMBER(Name) Name,
  HEARTH_FUNCTOR_FAMILIES(HEARTH_FAMILY_NUMBER)
#undef HEARTH_FAMILY_NUMBER
      kCount
};
inline constexpr int kFamilyCount = static_cast<int>(Family::kCount);

inline constexpr int kFamilyBits = 8;

/// The number of functor F in the kernel tables, made of its family's and its place in the family's
/// List; -1 if no List has it.
template <class F>
inline constexpr int number_of = -1;

/// The family and the place in its List that a functor's number stands for.
HEARTH_FN int family_of(int functor) { return functor >> kFamilyBits; }
HEARTH_FN int place_of(int functor) { return functor & ((1 << kFamilyBits) - 1); }

/// Numbers the functors of a family; stands after its List.
#define HEARTH_NUMBER_FAMILY(Name)                                     \
  static_assert(Name::size <= 1 << kFamilyBits);                       \
  template <class F>                                                   \
  requires(index_of<F, Name> >= 0) inline constexpr int number_of<F> = \
      (static_cast<int>(Family::Name) << kFamilyBits) + index_of<F, Name>;

}  // namespace hearth::fn
