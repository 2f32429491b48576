#include "distributed/sharding/checkpoint_contents.h"

#include "distributed/sharding/sharded_module.h"
#include "hearth/distributed/zero.h"

namespace hearth::distributed::checkpoint {

namespace {

Piece piece_of(std::string key, const Tensor& local, const ShardedParam* shard) {
  // Without rows, there is nothing to divide.
  if (!shard || shard->sizes[0] == 0) return {std::move(key), local, local.sizes().vec(), -1};
  return {std::move(key), local, shard->sizes, shard->begin};
}

/// A tensor of a parameter's state: divided like the parameter, unless it is one number.
Piece state_piece(std::string key, const Tensor& value, const ShardedParam* shard) {
  if (!shard || value.dim() == 0) return piece_of(std::move(key), value, nullptr);
  HEARTH_CHECK(value.sizes().equals(shard->sizes_of(shard->rows)), "cannot save '", key,
               "': its sizes ", value.sizes(), " differ from ",
               IntArrayRef(shard->sizes_of(shard->rows)),
               ", the sizes of the parameter's shard, so the ranks' parts cannot be joined");
  return piece_of(std::move(key), value, shard);
}

}  // namespace

ModelParameters::ModelParameters(const nn::Module& model) {
  const auto visit = [this](const std::string& path, const nn::Module& part) {
    if (const auto sharded = ShardedModule::find(part)) {
      sharded->params().reshard();
      for (const ShardedParam& param : sharded->params().params())
        shards_[param.param.unsafeGetTensorImpl()] = &param;
    }
    for (const auto& item : part.named_parameters(/*recurse=*/false)) {
      const std::string name = joined_path(path, item.key());
      parameters_[name] = item->unsafeGetTensorImpl();
      names_.emplace(item->unsafeGetTensorImpl(), name);
    }
  };
  model.apply(nn::Module::ConstNamedModuleApplyFunction(visit));
}

const ShardedParam* ModelParameters::shard_of(const std::string& name) const {
  const auto param = parameters_.find(name);
  if (param == parameters_.end()) return nullptr;
  const auto shard = shards_.find(param->second);
  return shard == shards_.end() ? nullptr : shard->second;
}

const std::string& ModelParameters::name_of(const Tensor& param) const {
  const auto found = names_.find(param.unsafeGetTensorImpl());
  HEARTH_CHECK_AS(ValueError, found != names_.end(), "the optimizer has a parameter of the sizes ",
                  param.sizes(), " that the model does not have");
  return found->second;
}

void add_model(const nn::Module& model, const ModelParameters& parameters, Contents& contents) {
  for (const auto& item : model.state_dict())
    contents.pieces.push_back(
        piece_of(kModelPrefix + item.key(), item.value(), parameters.shard_of(item.key())));
}

void add_optimizer(const optim::Optimizer& optimizer, const ModelParameters& parameters,
                   Contents& contents) {
  HEARTH_CHECK_AS(TypeError, !dynamic_cast<const ZeroRedundancyOptimizer*>(&optimizer),
                  "a checkpoint cannot hold the state of a ZeroRedundancyOptimizer; call its "
                  "consolidate_state_dict() on all ranks, then hearth::save() on one");
  std::vector<std::string> names;
  for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
    for (const Tensor& param : group.params()) names.push_back(parameters.name_of(param));
  const std::string state = "state.";
  for (const auto& [key, value] : optimizer.state_dict()) {
    if (!key.starts_with(state)) {
      contents.values.insert(kOptimizerPrefix + key, value);
      continue;
    }
    const size_t dot = key.find('.', state.size());
    const std::string& name = names.at(std::stoul(key.substr(state.size(), dot - state.size())));
    const std::string named_key = kStatePrefix + name + key.substr(dot);
    if (value.isTensor() && value.toTensor().defined())
      contents.pieces.push_back(
          state_piece(named_key, value.toTensor(), parameters.shard_of(name)));
    else
      contents.values.insert(named_key, value);
  }
}

}  // namespace hearth::distributed::checkpoint
