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
    const auto write = [&](int64_t k, T* result) {
      const Number value = mul_add(
          step, positions<Compute, kLanes>(part.first + k * part.direction, part.direction), start);
      Vec<T, kLanes, Isa>{__builtin_convertvector(value.v, Native<T, kLanes>), Raw{}}.store(result);
    };
    int64_t k = 0;
    for (; k + kLanes <= part.count; k += kLanes) write(k, to + k);
    if (k == part.count) return;
    T last[kLanes];
    write(k, last);
    for (int lane = 0; k + lane < part.count; ++lane) to[k + lane] = last[lane];
  }

 private:
  /// first, first + direction, … as the nearest floating-point numbers.
  template <class Compute, int lanes>
  HEARTH_SIMD static Vec<Compute, lanes, Isa> positions(int64_t first, int64_t direction) {
    Native<int32_t, lanes> result;
    for (int lane = 0; lane < lanes; ++lane) result[lane] = int32_t(first + lane * direction);
    return {__builtin_convertvector(result, Native<Compute, lanes>), Raw{}};
  }
};

}  // namespace hearth::cpu
