#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// How a scattered value changes its element.
enum class Combine : int8_t { kAdd, kReplace, kMultiply, kMaximum, kMinimum };

/// out[p with its coordinate dim replaced by index[p]] += src[p] (or the operation of `combine`)
/// for every position p of index; out holds the initial values. The index is as in GatherParams
/// (seam/gather.h) and in no dimension larger than src. bool adds as "or" and multiplies as "and",
/// integers wrap, half types are added and multiplied in float32, NaN is both the maximum and the
/// minimum; complex numbers have neither. Values for one element are combined in row-major order of
/// p (on GPUs: in any order, unless `deterministic`). After a fault, out is unchanged (on GPUs:
/// unspecified).
struct ScatterParams {
  View out, index, src;
  int dim = 0;
  Combine combine = Combine::kAdd;
  bool deterministic = false;  // the same bits in every run
};

}  // namespace hearth
