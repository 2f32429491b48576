#include "hearth/distributed/fully_shard.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "distributed/sharding/same_on_all_ranks.h"
#include "distributed/sharding/sharded_module.h"
#include "hearth/nn/module.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

/// Collects the parameters that a module will divide.
class ParameterSearch {
 public:
  ParameterSearch(nn::Module& module, const FullyShardOptions& options) {
    for (const Tensor& param : options.ignored_params()) taken_.insert(key(param));
    const auto visit = [this](const std::string& path, nn::Module& part) { add_owner(path, part); };
    module.apply(nn::Module::NamedModuleApplyFunction(visit));
    for (const auto& item : module.named_parameters()) add(item.key(), item.value());
  }

  ShardedParams::Named params;
  ShardedTree::Members inside;  // the sharded modules inside the module

 private:
  static const void* key(const Tensor& param) { return param.unsafeGetTensorImpl(); }

  void add_owner(const std::string& path, nn::Module& part) {
    const auto sharded = ShardedModule::find(part);
    if (!sharded) return;
    const auto is_known = [&](const auto& member) { return member.lock() == sharded; };
    if (std::none_of(inside.begin(), inside.end(), is_known)) inside.push_back(sharded);
    for (const ShardedParam& param : sharded->params().params())
      owners_[key(param.param)].push_back(path);
  }

  void add(const std::string& name, const Tensor& param) {
    if (const auto owner = owners_.find(key(param)); owner != owners_.end())
      return check_inside(name, owner->second);
    if (!taken_.insert(key(param)).second) return;
    HEARTH_CHECK_AS(ValueError, param.dim() > 0,
                    "fully_shard does not support scalar parameters. Change ", name,
                    " to a 1D tensor with numel equal to 1.");
    params.emplace_back(name, param);
  }

  /// A parameter that is also used outside of the module that gathers it would be a shard there.
  static void check_inside(const std::string& name, const std::vector<std::string>& owners) {
    const auto contains = [&name](const std::string& path) {
      return name.compare(0, path.size() + 1, path + ".") == 0;
    };
    HEARTH_CHECK_AS(ValueError, std::any_of(owners.begin(), owners.end(), contains), "Parameter '",
                    name, "' is shared with the module '", owners[0],
                    "', to which fully_shard was applied before; apply fully_shard to a module "
                    "that contains both uses instead");
  }

  // By parameter: the paths of the modules that gather it already.
  std::unordered_map<const void*, std::vector<std::string>> owners_;
  std::unordered_set<const void*> taken_;  // parameters that are ignored or in `params`
};

}  // namespace

FSDPModule fully_shard(nn::Module& module, const FullyShardOptions& options) {
  HEARTH_CHECK_AS(ValueError, get_rank(options.process_group()) >= 0,
                  "fully_shard: this process does not belong to the process group");
  std::optional<ParameterSearch> found;
  const auto describe = [&] {
    HEARTH_CHECK_AS(ValueError, !ShardedModule::find(module),
                    "fully_shard has already been applied to this module (", module.name(), ")");
    found.emplace(module, options);
    ShardedParams::check_one_kind(module.path(), found->params);
    Descriptions lines;
    for (const auto& [name, param] : found->params)
      lines.push_back(describe_parameter(name, param));
    return lines;
  };
  check_same_on_all_ranks({"fully_shard", "have different parameters", "create the same module"},
                          describe, options.process_group());
  const auto params = std::make_shared<ShardedParams>(module.path(), found->params,
                                                      options.process_group(), options.mp_policy());
  const auto sharded = std::make_shared<ShardedModule>(module, params, options, found->inside);
  sharded->register_hooks(module);
  return FSDPModule(sharded);
}

FSDPModule fsdp_module(const nn::Module& module) {
  auto sharded = ShardedModule::find(module);
  HEARTH_CHECK_AS(ValueError, sharded, "fully_shard was not applied to this module (",
                  module.name(), ")");
  return FSDPModule(std::move(sharded));
}

void FSDPModule::unshard() { state_->params().unshard(); }
void FSDPModule::reshard() { state_->params().reshard(); }

void FSDPModule::set_requires_gradient_sync(bool requires_gradient_sync, bool recurse) {
  for (const auto& member : state_->members(recurse))
    member->requires_gradient_sync = requires_gradient_sync;
}
void FSDPModule::set_reshard_after_forward(bool reshard_after_forward, bool recurse) {
  for (const auto& member : state_->members(recurse))
    member->reshard_after_forward = reshard_after_forward;
}
void FSDPModule::set_reshard_after_backward(bool reshard_after_backward, bool recurse) {
  for (const auto& member : state_->members(recurse))
    member->reshard_after_backward = reshard_after_backward;
}

}  // namespace hearth::distributed
