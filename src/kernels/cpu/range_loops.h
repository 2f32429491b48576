#pragma once

// Contiguous parts of arange and linspace for one instruction set: a vector of positions, a fused
// multiply-add and a store. Bound by the stores. Included only by range_@target@.cpp.in.

#include "kernels/cpu/range_kernels.h"
#include "kernels/cpu/vec.h"

namespace hearth::cpu {

template <class Isa>
struct RangeLoops {
  template <class T, class Compute>
  static void fill(T* to, const LinearPart<Compute>& part) {
    constexpr int kLanes = Isa::kBytes / int(sizeof(Compute));
    using Number = Vec<Compute, kLanes, Isa>;
    const Number step(part.step), start(part.start);
    const auto write = [&](int64_t k, int lanes) {
      const Number value = mul_add(
          step, positions<Compute, kLanes>(part.first + k * part.direction, part.direction), start);
      const Vec<T, kLanes, Isa> result{__builtin_convertvector(value.v, Native<T, kLanes>), Raw{}};
      if (lanes == kLanes)
        result.store(to + k);
      else
        result.store_first(to + k, lanes);
    };
    int64_t k = 0;
    for (; k + kLanes <= part.count; k += kLanes) write(k, kLanes);
    if (k < part.count) write(k, int(part.count - k));
  }

 private:
  /// first, first + direction, … as the nearest floating-point numbers.
  template <class Compute, int lanes>
  HEARTH_SIMD static Vec<Compute, lanes, Isa> positions(int64_t first, int64_t direction) {
    using Int = typename LaneTraits<Compute>::Int;
    Native<Int, lanes> result;
    for (int lane = 0; lane < lanes; ++lane) result[lane] = Int(first + lane * direction);
    return {__builtin_convertvector(result, Native<Compute, lanes>), Raw{}};
  }
};

}  // namespace hearth::cpu
