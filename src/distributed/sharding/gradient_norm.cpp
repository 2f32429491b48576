// The norm and the clipping of the gradients of all shards.

#include "distributed/sharding/sharded_module.h"
#include "hearth/nn/utils.h"

namespace hearth::distributed {

namespace {

std::vector<Tensor> shards_in(ShardedModule& module) {
  std::vector<Tensor> shards;
  for (const auto& member : module.members(/*recurse=*/true))
    for (const ShardedParam& param : member->params().params()) shards.push_back(param.param);
  return shards;
}

void check_order(const char* function, double norm_type) {
  HEARTH_CHECK_AS(ValueError, norm_type > 0, function, ": norm_type must be above 0, but it is ",
                  norm_type);
}

}  // namespace

double FSDPModule::get_total_norm(double norm_type) const {
  check_order("get_total_norm", norm_type);
  return nn::utils::norm_of_gradients(shards_in(*state_), norm_type).item().toDouble();
}

double FSDPModule::clip_grad_norm_(double max_norm, double norm_type, bool error_if_nonfinite) {
  check_order("clip_grad_norm_", norm_type);
  return nn::utils::clip_grad_norm_(shards_in(*state_), max_norm, norm_type, error_if_nonfinite);
}

}  // namespace hearth::distributed
