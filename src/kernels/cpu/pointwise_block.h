#pragma once

// The blocks of a family of functors for real numbers; pointwise_complex.h has those for complex
// numbers. A step loads a vector of each operand, evaluates the formula and stores the result; the
// last vector overlaps the one before. Bound by loads and stores, for formulas with exp, log or pow
// by their arithmetic. Included only by pointwise_@family@_@target@.cpp.in.

#include "functors/traits.h"
#include "kernels/cpu/convert.h"
#include "kernels/cpu/math.h"
#include "kernels/cpu/pointwise_table.h"

namespace hearth::cpu {

/// Loads and stores the values of formulas in memory of dtype D.
template <ScalarType D, class Isa>
struct Access {
  using T = std::conditional_t<D == kBool, uint8_t, Element<D>>;
  using V = FullVec<T, Isa>;
  static constexpr int kLanes = V::kLanes;

  HEARTH_SIMD static V load(const void* from, int64_t i) {
    const T* at = static_cast<const T*>(from) + i;
    __builtin_prefetch(reinterpret_cast<const char*>(at) + 1024);  // 16 cache lines ahead
    return V::load(at);
  }
  HEARTH_SIMD static V load_first(const void* from, int n) { return V::load_first(from, n); }

  /// The value as it is stored: truth values are bytes 0 and 1.
  HEARTH_SIMD static auto stored(V x) {
    if constexpr (D == kBool)
      return stored(x != V(0));
    else
      return x;
  }
  HEARTH_SIMD static auto stored(typename V::M test) {
    using Bytes = Vec<uint8_t, kLanes, Isa>;
    const Bytes bytes{Isa::template narrow<Native<uint8_t, kLanes>>(test.v), Raw{}};
    return bytes & Bytes(1);
  }
  template <class S>
  HEARTH_SIMD static void store(S value, void* to, int64_t i) {
    value.store(static_cast<typename S::Lane*>(to) + i);
  }
  template <class S>
  HEARTH_SIMD static void store_first(S value, void* to, int n) {
    value.store_first(to, n);
  }
};

/// One vector of every operand of a formula.
template <class A, int count>
struct Values {
  typename A::V x[count];

  HEARTH_SIMD static Values load(const void* const* in, int64_t i) {
    if constexpr (count == 1)
      return {{A::load(in[0], i)}};
    else if constexpr (count == 2)
      return {{A::load(in[0], i), A::load(in[1], i)}};
    else if constexpr (count == 3)
      return {{A::load(in[0], i), A::load(in[1], i), A::load(in[2], i)}};
    else
      return {{A::load(in[0], i), A::load(in[1], i), A::load(in[2], i), A::load(in[3], i)}};
  }
  HEARTH_SIMD static Values load_first(const void* const* in, int n) {
    if constexpr (count == 1)
      return {{A::load_first(in[0], n)}};
    else if constexpr (count == 2)
      return {{A::load_first(in[0], n), A::load_first(in[1], n)}};
    else if constexpr (count == 3)
      return {{A::load_first(in[0], n), A::load_first(in[1], n), A::load_first(in[2], n)}};
    else
      return {{A::load_first(in[0], n), A::load_first(in[1], n), A::load_first(in[2], n),
               A::load_first(in[3], n)}};
  }
  template <int which, class F>
  HEARTH_SIMD auto evaluate(const F& f) const {
    if constexpr (count == 1)
      return A::stored(fn::evaluate<which>(f, x[0]));
    else if constexpr (count == 2)
      return A::stored(fn::evaluate<which>(f, x[0], x[1]));
    else if constexpr (count == 3)
      return A::stored(fn::evaluate<which>(f, x[0], x[1], x[2]));
    else
      return A::stored(fn::evaluate<which>(f, x[0], x[1], x[2], x[3]));
  }
};

/// A BlockFn. The last vector overlaps the one before; it is loaded before any store, so that `out`
/// may be an input.
template <class F, int which, ScalarType D, class Isa>
void block(const void* functor, const void* const* in, void* out, int64_t n) {
  using A = Access<D, Isa>;
  using Inputs = Values<A, fn::operands<F, which>>;
  const F& f = *static_cast<const F*>(functor);
  const int64_t last = n - A::kLanes;
  const Inputs tail = last < 0 ? Inputs::load_first(in, int(n)) : Inputs::load(in, last);
  for (int64_t i = 0; i < last; i += A::kLanes)
    A::store(Inputs::load(in, i).template evaluate<which>(f), out, i);
  const auto result = tail.template evaluate<which>(f);
  if (last < 0)
    A::store_first(result, out, int(n));
  else
    A::store(result, out, last);
}

/// Whether formula `which` of F is computed in D. Only floating-point numbers have gradients.
template <class F, int which, ScalarType D>
constexpr bool has_block() {
  return fn::has_formula<F, which> && (F::info.dtypes >> int(D) & 1u) &&
         (which == 0 || is_floating_point(D));
}

template <class F, class Isa>
struct BlockMaker {
  template <int which, ScalarType D>
  static constexpr void add(FunctorBlocks& functor) {
    if constexpr (has_block<F, which, D>()) functor.blocks[which][int(D)] = block<F, which, D, Isa>;
  }
  template <ScalarType D>
  static constexpr void add_formulas(FunctorBlocks& functor) {
    add<0, D>(functor);
    add<1, D>(functor);
    add<2, D>(functor);
    add<3, D>(functor);
  }
  static constexpr FunctorBlocks make() {
    FunctorBlocks functor;
    functor.is_test = F::info.promote == Promote::kToBool;
    add_formulas<kByte>(functor);
    add_formulas<kChar>(functor);
    add_formulas<kShort>(functor);
    add_formulas<kInt>(functor);
    add_formulas<kLong>(functor);
    add_formulas<kFloat>(functor);
    add_formulas<kDouble>(functor);
    add_formulas<kBool>(functor);
    return functor;
  }
};

template <class Family, class Isa>
struct FamilyBlocks;
template <class... F, class Isa>
struct FamilyBlocks<List<F...>, Isa> {
  static constexpr FunctorBlocks functors[] = {BlockMaker<F, Isa>::make()...};
};

}  // namespace hearth::cpu

/// Defines the blocks of the functors in fn::Family for one instruction set.
#define HEARTH_POINTWISE_FAMILY(Family, Target)                          \
  const ::hearth::cpu::FunctorBlocks* ::hearth::cpu::blocks_of_##Family( \
      AtLevel<IsaLevel::k##Target>) {                                    \
    return FamilyBlocks<fn::Family, Target##Isa>::functors;              \
  }
