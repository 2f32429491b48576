#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// out[p] = in[p with its coordinate dim replaced by index[p]] for every position p of index. The
/// index is int64 or int32, with the sizes of out and as many dimensions as in; in dimensions other
/// than dim it may be smaller than in. A 0-d view counts as a 1-d view of one element. An index
/// outside [0, in.sizes[dim]) is a kIndexOutOfRange fault (index, dim, size).
struct GatherParams {
  View in, index, out;
  int dim = 0;
};

/// How a scattered value changes its element.
enum class Combine : int8_t { kAdd, kReplace, kMultiply };

/// out[p with its coordinate dim replaced by index[p]] += src[p] (or the operation of `combine`)
/// for every position p of index; out holds the initial values. The index is as in GatherParams and
/// in no dimension larger than src. bool adds as "or" and multiplies as "and", integers wrap.
/// Values for one element are combined in row-major order of p (on devices: in any order, unless
/// `deterministic`). After a fault, out is unchanged (on devices: unspecified).
struct ScatterParams {
  View out, index, src;
  int dim = 0;
  Combine combine = Combine::kAdd;
  bool deterministic = false;  // the same bits in every run
};

}  // namespace hearth
