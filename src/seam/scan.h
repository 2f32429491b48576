#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// The operation of a scan.
enum class ScanKind : unsigned char {
  kSum,
  kProd,
  kMax,  // with the last index of the maximum; NaN is larger than all numbers
  kMin,  // with the last index of the minimum; NaN is smaller than all numbers
  kLogSumExp,
  kLinear,  // out[i] = in[i] + factor[i] * out[i - 1]
};

/// out[i] = in[0] ∘ … ∘ in[i] along `dim` (from the other end if `reverse`), where ∘ is the
/// operation of `kind`; kLinear instead computes the recurrence above, where i - 1 is the element
/// before in the scan's direction. All views have the same sizes; in, factor (only of kLinear) and
/// out the same dtype, indices (kMax and kMin) int64. `out` may be `in`. A 0-d view counts as one
/// element.
struct ScanParams {
  View in{}, factor{}, out{}, indices{};
  int dim = 0;
  ScanKind kind = ScanKind::kSum;
  bool reverse = false;
};

}  // namespace hearth
