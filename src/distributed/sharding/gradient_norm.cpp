// The norm of the gradients of all shards.

#include <algorithm>
#include <cmath>

#include "distributed/sharding/sharded_module.h"
#include "hearth/autograd.h"
#include "hearth/nn/utils.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

using GroupGradients = std::pair<ProcessGroupPtr, std::vector<Tensor>>;

/// The gradients of this rank's shards, by process group in the order of the modules, which is the
/// same on all ranks.
std::vector<GroupGradients> gradients_by_group(
    const std::vector<std::shared_ptr<ShardedModule>>& members) {
  std::vector<GroupGradients> groups;
  for (const auto& member : members) {
    const ProcessGroupPtr& group = member->params().group();
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const GroupGradients& item) { return item.first == group; });
    if (found == groups.end()) found = groups.insert(found, GroupGradients{group, {}});
    for (const ShardedParam& param : member->params().params())
      if (const Tensor& grad = param.param.mutable_grad(); grad.defined() && grad.numel() > 0)
        found->second.push_back(grad);
  }
  return groups;
}

/// The norm of the gradients of all ranks of a group.
double norm_over_ranks(const std::vector<Tensor>& gradients, double norm_type,
                       const ProcessGroupPtr& group) {
  const double own =
      gradients.empty() ? 0 : nn::utils::get_total_norm(gradients, norm_type).item().toDouble();
  const bool is_maximum = std::isinf(norm_type);
  const Tensor total = full({1}, is_maximum ? own : std::pow(own, norm_type), kDouble);
  all_reduce(total, is_maximum ? ReduceOp::MAX : ReduceOp::SUM, group);
  const double sum = total.item().toDouble();
  return is_maximum ? sum : std::pow(sum, 1 / norm_type);
}

}  // namespace

double FSDPModule::get_total_norm(double norm_type) const {
  HEARTH_CHECK_AS(ValueError, norm_type > 0,
                  "get_total_norm: norm_type must be positive or infinite, but it is ", norm_type);
  const NoGradGuard no_grad;
  std::vector<Tensor> norms;
  for (const auto& [group, gradients] : gradients_by_group(state_->members(/*recurse=*/true)))
    norms.push_back(full({}, norm_over_ranks(gradients, norm_type, group), kDouble));
  return stack(norms).norm(Scalar(norm_type)).item().toDouble();
}

double FSDPModule::clip_grad_norm_(double max_norm, double norm_type, bool error_if_nonfinite) {
  const double norm = get_total_norm(norm_type);
  HEARTH_CHECK(!error_if_nonfinite || std::isfinite(norm), "The total norm of order ", norm_type,
               " of the gradients is non-finite, so it cannot be clipped. To scale the gradients "
               "anyway, set `error_if_nonfinite=false`");
  std::vector<Tensor> params;
  for (const auto& member : state_->members(/*recurse=*/true))
    for (const ShardedParam& param : member->params().params())
      if (param.param.numel() > 0) params.push_back(param.param);
  nn::utils::clip_grads_with_norm_(params, max_norm, full({}, norm, kDouble));
  return norm;
}

}  // namespace hearth::distributed
