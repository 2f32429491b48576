#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

/// losses[p] = -w * in[p with class target[p] put in as dimension class_dim], w = weight[target[p]]
/// (1 if weight is undefined); both 0 where target[p] is ignore_index. The target is int64 or uint8
/// with in's sizes but the classes'. Without `reduce`, out has the target's sizes. Else out (0-d)
/// is the sum of the losses, divided, with `mean`, by the sum of w, which total_weight (0-d) gets.
/// A target outside [0, classes) is a kBadLabel fault.
struct NllLossParams {
  View in{}, target{}, weight{}, out{}, total_weight{};
  int class_dim = 0;
  int64_t ignore_index = -100;
  bool reduce = true;
  bool mean = true;
};

/// Writes the gradient where the classes were picked; grad_in is already zero elsewhere. The views
/// are as above, grad as out.
struct NllLossBackwardParams {
  View grad{}, target{}, weight{}, total_weight{}, grad_in{};
  int class_dim = 0;
  int64_t ignore_index = -100;
  bool mean = true;
};

namespace cpu {
void run(const NllLossParams& params, Ctx& ctx);
void run(const NllLossBackwardParams& params, Ctx& ctx);
}  // namespace cpu
namespace cuda {
void run(const NllLossParams& params, Ctx& ctx);
void run(const NllLossBackwardParams& params, Ctx& ctx);
}  // namespace cuda

}  // namespace hearth
