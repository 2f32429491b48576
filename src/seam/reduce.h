#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "functors/reduction.h"
#include "functors/traits.h"
#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// Bytes of the largest reduction functor, which is passed by value.
inline constexpr int kReductionBytes = 16;

/// out = the elements of `in` reduced over some of its dimensions. `out` has as many dimensions as
/// `in`; dimension d is reduced where out.sizes[d] is 1, and kept where it equals in.sizes[d];
/// strides of `out` are ignored where the size is 1. `in` may have any strides, 0 included; `out`
/// does not overlap itself. Elements are converted to the dtype `compute` before they are reduced,
/// and the result to out.dtype. The reduction of no elements is finish() of the functor's start
/// state.
struct ReduceParams {
  int16_t functor = 0;                         // index in fn::Reductions
  ScalarType compute = ScalarType::Undefined;  // see reduce_compute_type
  View in;
  View out;
  alignas(8) unsigned char parameters[kReductionBytes] = {};
};

/// The dtype in which a reduction with results of dtype `result` is computed: float32 for half
/// types, int64 for integers. (A sum of bools has an int64 result; any and all are Max and Min in
/// bool.)
constexpr ScalarType reduce_compute_type(ScalarType result) {
  if (is_reduced_float(result)) return kFloat;
  return is_integral(result, false) ? kLong : result;
}

/// The parameters of a reduction that computes in reduce_compute_type(out.dtype).
template <class F>
ReduceParams reduce_params(const F& functor, const View& in, const View& out) {
  static_assert(sizeof(F) <= kReductionBytes && alignof(F) <= 8 && std::is_trivially_copyable_v<F>);
  ReduceParams params;
  params.functor = static_cast<int16_t>(fn::index_of<F, fn::Reductions>);
  params.compute = reduce_compute_type(out.dtype);
  params.in = in;
  params.out = out;
  std::memcpy(params.parameters, &functor, sizeof(F));
  return params;
}

}  // namespace hearth
