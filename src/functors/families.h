#pragma once

#include "functors/hd.h"

/// Every family of pointwise functors, one line each: X(Name) stands for fn::Name, the List at the
/// end of functors/name.h (X(TwoWords): functors/two_words.h). cmake/GeneratedUnits.cmake reads
/// these lines too, to generate one translation unit per family and instruction set.
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

/// The number of functor F in the kernel tables, composed of the number of its family and its
/// position in the family's List; -1 if it is in no List.
template <class F>
inline constexpr int number_of = -1;

/// The family, and the position in its List, of the functor with this number.
HEARTH_FN int family_of(int functor) { return functor >> kFamilyBits; }
HEARTH_FN int place_of(int functor) { return functor & ((1 << kFamilyBits) - 1); }

/// Defines number_of for the functors of a family; written after its List.
#define HEARTH_NUMBER_FAMILY(Name)                                     \
  static_assert(Name::size <= 1 << kFamilyBits);                       \
  template <class F>                                                   \
  requires(index_of<F, Name> >= 0) inline constexpr int number_of<F> = \
      (static_cast<int>(Family::Name) << kFamilyBits) + index_of<F, Name>;

}  // namespace hearth::fn
