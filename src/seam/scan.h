#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// What a scan carries along a dimension.
enum class ScanKind : unsigned char {
  kSum,
  kProd,
  kMax,  // with indices: where the value was last seen; NaN beats everything
  kMin,  // likewise
  kLogSumExp,
  kLinear,  // out[i] = in[i] + factor[i] * out[i - 1]
};

/// out[i] = in[0] ∘ … ∘ in[i] along `dim` (from the other end if `reverse`). All views have the
/// same sizes; in, factor (kLinear alone) and out the same dtype, indices (kMax and kMin) int64.
/// `out` may be `in`. A 0-d view counts as one element.
struct ScanParams {
  View in{}, factor{}, out{}, indices{};
  int dim = 0;
  ScanKind kind = ScanKind::kSum;
  bool reverse = false;
};

namespace cpu {
void run(const ScanParams& params, Ctx& ctx);
}
namespace cuda {
void run(const ScanParams& params, Ctx& ctx);
}

}  // namespace hearth
