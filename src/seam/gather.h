#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out[p] = in[p with its coordinate dim replaced by index[p]] for every position p of index. The
/// index is int64 or int32 with as many dimensions as in and out's sizes; in the other dimensions
/// it may be smaller than in. A 0-d view counts as one element of a 1-d one. An index outside [0,
/// in.sizes[dim]) is a kIndexOutOfRange fault (index, dim, size).
struct GatherParams {
  View in, index, out;
  int dim = 0;
};

/// What becomes of an element that a value is scattered to.
enum class Combine : int8_t { kAdd, kReplace, kMultiply };

/// out[p with its coordinate dim replaced by index[p]] += src[p] (or as `combine` says) for every
/// position p of index; out already holds what is added to. The index is as in GatherParams and at
/// most src's size in every dimension. bool adds as "or" and multiplies as "and", integers wrap.
/// Every element of out is combined in row-major order of p (on devices: in any, unless
/// `deterministic`). After a fault out is as it was (on devices: unspecified).
struct ScatterParams {
  View out, index, src;
  int dim = 0;
  Combine combine = Combine::kAdd;
  bool deterministic = false;  // the same bits in every run
};

namespace cpu {
void run(const GatherParams& params, Ctx& ctx);
void run(const ScatterParams& params, Ctx& ctx);
}  // namespace cpu
namespace cuda {
void run(const GatherParams& params, Ctx& ctx);
void run(const ScatterParams& params, Ctx& ctx);
}  // namespace cuda

}  // namespace hearth
