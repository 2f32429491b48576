// The state dict of ZeroRedundancyOptimizer equals that of an optimizer in one process. In the
// optimizer of one rank, parameters have other indices.

#include <map>

#include "distributed/sharding/zero_partition.h"
#include "hearth/distributed/collectives.h"
#include "hearth/ivalue_containers.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

using optim::StateDict;
using Values = Dict<std::string, IValue>;

constexpr std::string_view kState = "state.";

bool is_state(const std::string& key) { return key.starts_with(kState) || key == "state"; }

/// The key with another parameter's index: "state.7.exp_avg" for "state.2.exp_avg". Empty if the
/// map lacks the index.
std::string renumbered(const std::string& key, const std::map<size_t, size_t>& numbers) {
  const size_t dot = key.find('.', kState.size());
  const std::string digits =
      dot == std::string::npos ? "" : key.substr(kState.size(), dot - kState.size());
  const bool is_number = !digits.empty() && digits.size() < 10 &&
                         digits.find_first_not_of("0123456789") == std::string::npos;
  HEARTH_CHECK_AS(ValueError, is_number, "the state dict has the key '", key,
                  "', which an optimizer's state dict does not have");
  const auto found = numbers.find(std::stoul(digits));
  if (found == numbers.end()) return "";
  return detail::str(kState, found->second, key.substr(dot));
}

}  // namespace

/// The indices, in all groups, of the parameters that this rank updates.
std::vector<size_t> ZeroRedundancyOptimizer::own_indices() const {
  std::vector<size_t> indices;
  size_t index = 0;
  for (const optim::OptimizerParamGroup& group : param_groups_)
    for (const Tensor& param : group.params()) {
      if (partition_->owner_of(param) == partition_->rank) indices.push_back(index);
      ++index;
    }
  return indices;
}

/// The state of this rank's parameters, by their indices in all groups.
StateDict ZeroRedundancyOptimizer::own_state() const {
  std::map<size_t, size_t> numbers;
  for (const size_t index : own_indices()) numbers.emplace(numbers.size(), index);
  StateDict state;
  for (const auto& [key, value] : partition_->local->state_dict())
    if (is_state(key)) state.insert(renumbered(key, numbers), value);
  return state;
}

void ZeroRedundancyOptimizer::consolidate_state_dict(int to) {
  const ProcessGroupPtr& group = partition_->options.process_group();
  const int size = get_world_size(group);
  HEARTH_CHECK_AS(ValueError, to >= 0 && to < size, "consolidate_state_dict: there is no rank ", to,
                  " in a group of ", size, " ranks");
  const StateDict own = own_state();
  partition_->consolidated.reset();
  if (partition_->rank != to) {
    const Values values;
    for (const auto& [key, value] : own)
      values.insert(key, value.isTensor() ? IValue(value.toTensor().cpu()) : value);
    return send_object(values, get_global_rank(group, to), group);
  }
  StateDict all = own;
  for (int rank = 0; rank < size; ++rank) {
    if (rank == to) continue;
    const IValue received = recv_object(get_global_rank(group, rank), group);
    for (const auto& item : received.toGenericDict())
      all.insert(item.key().toStringRef(), item.value());
  }
  for (const auto& [key, value] : Optimizer::state_dict())
    if (!is_state(key)) all.insert(key, value);
  const StateDict local = partition_->local->state_dict();
  if (const IValue* name = local.find("name")) all.insert("name", *name);
  partition_->consolidated = std::move(all);
}

StateDict ZeroRedundancyOptimizer::state_dict() const {
  HEARTH_CHECK(partition_->consolidated,
               "Optimizer state has not been consolidated on this rank. Please call "
               "`consolidate_state_dict(to=",
               partition_->rank,
               ")` on all ranks beforehand if you meant to save the global state.");
  return *partition_->consolidated;
}

void ZeroRedundancyOptimizer::load_state_dict(const StateDict& dict) {
  std::map<size_t, size_t> numbers;
  for (const size_t index : own_indices()) numbers.emplace(index, numbers.size());
  StateDict own, groups;
  for (const auto& [key, value] : dict) {
    if (!is_state(key)) {
      own.insert(key, value);
      if (key != "name") groups.insert(key, value);
    } else if (const std::string number = renumbered(key, numbers); !number.empty()) {
      own.insert(number, value);
    }
  }
  const auto& local_groups = partition_->local->param_groups();
  for (size_t i = 0; i < local_groups.size(); ++i)
    own.insert(detail::str("param_groups.", i, ".params.size"),
               int64_t(local_groups[i].params().size()));
  Groups former = param_groups_;
  Optimizer::load_state_dict(groups);  // checks and loads the options
  try {
    partition_->local->load_state_dict(own);
  } catch (...) {
    param_groups_ = std::move(former);
    throw;
  }
}

void ZeroRedundancyOptimizer::save(serialize::OutputArchive& archive) const {
  const auto whole = partition_->factory(param_groups_);
  whole->load_state_dict(state_dict());
  whole->save(archive);
}

void ZeroRedundancyOptimizer::load(serialize::InputArchive& archive) {
  const auto whole = partition_->factory(param_groups_);
  whole->load(archive);
  load_state_dict(whole->state_dict());
}

}  // namespace hearth::distributed
