// Checks that several schedulers have in common.
#pragma once

#include "hearth/optim/lr_scheduler.h"

namespace hearth::optim {

/// Returns one value per parameter group; throws for a list of another length.
inline std::vector<double> per_group(const PerGroup& value, const char* name, size_t groups) {
  std::vector<double> values = value.spread(groups);
  HEARTH_CHECK_AS(ValueError, values.size() == groups, name,
                  " must have the same length as optimizer.param_groups. ", name, " has ",
                  value.values().size(), " values, param_groups has ", groups, ".");
  return values;
}

/// Throws unless the optimizer has a momentum that a scheduler can change.
inline void check_has_momentum(const Optimizer& optimizer) {
  HEARTH_CHECK_AS(ValueError, optimizer.defaults().get_momentum(),
                  "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
}

}  // namespace hearth::optim
