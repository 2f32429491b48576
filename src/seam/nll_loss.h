#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// losses[p] = -w * in[p with coordinate target[p] inserted as dimension class_dim], where w =
/// weight[target[p]] (1 if weight is undefined); loss and w are 0 where target[p] is ignore_index.
/// The target is int64 or uint8 and has in's sizes without class_dim. Without `reduce`, out is the
/// losses. With it, out (0-d) is their sum, divided by the sum of w if `mean`; total_weight (0-d)
/// is the sum of w. A target outside [0, classes) is a kBadLabel fault.
struct NllLossParams {
  View in{}, target{}, weight{}, out{}, total_weight{};
  int class_dim = 0;
  int64_t ignore_index = -100;
  bool reduce = true;
  bool mean = true;
};

/// Writes the gradient of the elements that the targets select; grad_in holds zeros on entry. The
/// views are as in NllLossParams; grad has the sizes of out.
struct NllLossBackwardParams {
  View grad{}, target{}, weight{}, total_weight{}, grad_in{};
  int class_dim = 0;
  int64_t ignore_index = -100;
  bool mean = true;
};

}  // namespace hearth
