#pragma once

#include <cmath>
#include <vector>

#include "functors/hd.h"
#include "hearth/dtype.h"
#include "seam/table.h"

namespace hearth {

/// Multiplies many dense tensors of one floating dtype by *inv_scale, in place, and sets *found_inf
/// to 1 if an element is inf or NaN. If *inv_scale is 1, the tensors are checked, but not written.
struct AmpUnscaleParams {
  struct Elements {
    void* data;
    int64_t numel;
  };
  ScalarType dtype = ScalarType::Undefined;
  const float* inv_scale = nullptr;  // in device memory, like found_inf
  float* found_inf = nullptr;
  std::vector<Elements> tensors;
};

/// The next scale of a gradient scaler; all addresses are in device memory.
struct AmpUpdateScaleParams {
  float* scale = nullptr;
  int32_t* growth_tracker = nullptr;  // steps without inf or NaN since the scale changed
  const float* found_inf = nullptr;
  double growth_factor = 1, backoff_factor = 1;
  int64_t growth_interval = 0;
};

/// The rule of AmpUpdateScaleParams: after an inf or NaN the scale shrinks; after growth_interval
/// steps without one it grows, unless it would be inf.
HEARTH_FN void update_scale(const AmpUpdateScaleParams& params) {
  if (*params.found_inf != 0) {
    *params.scale = static_cast<float>(*params.scale * params.backoff_factor);
    *params.growth_tracker = 0;
    return;
  }
  const int64_t steps = int64_t{*params.growth_tracker} + 1;
  const bool grows = steps == params.growth_interval;
  *params.growth_tracker = grows ? 0 : static_cast<int32_t>(steps);
  const auto grown = static_cast<float>(*params.scale * params.growth_factor);
  if (grows && std::isfinite(grown)) *params.scale = grown;
}

}  // namespace hearth
