#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "functors/reduction.h"
#include "functors/traits.h"
#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// Bytes of the largest reduction functor (its parameters travel by value).
inline constexpr int kReductionBytes = 16;

/// out = the elements of `in` reduced over some of its dimensions. `out` has as many dimensions as
/// `in`; dimension d is reduced where out.sizes[d] is 1 and kept where it is in.sizes[d]; the
/// stride of `out` does not matter where its size is 1. Any strides of `in` (0 included); `out` has
/// no overlaps. Elements are converted to `compute` before they are reduced, the result from it to
/// out.dtype. No elements give the functor's start value, finished.
struct ReduceParams {
  int16_t functor = 0;                         // index in fn::Reductions
  ScalarType compute = ScalarType::Undefined;  // see reduce_compute_type
  View in;
  View out;
  alignas(8) unsigned char parameters[kReductionBytes] = {};
};

/// The type in which a reduction with results of type `result` is computed: half types in float,
/// integers in int64. (A sum over bool has an int64 result; any and all are Max and Min in bool.)
constexpr ScalarType reduce_compute_type(ScalarType result) {
  if (is_reduced_float(result)) return kFloat;
  return is_integral(result, false) ? kLong : result;
}

/// The parameters of one reduction, computed in reduce_compute_type(out.dtype).
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

namespace cpu {
void run(const ReduceParams& params, Ctx& ctx);
}
namespace cuda {
void run(const ReduceParams& params, Ctx& ctx);
}

}  // namespace hearth
