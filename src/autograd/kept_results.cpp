#include "autograd/kept_results.h"

#include <algorithm>
#include <string_view>

namespace hearth::utils {

SelectiveCheckpoint::SelectiveCheckpoint(std::vector<std::string> ops) : ops_(std::move(ops)) {
  HEARTH_CHECK_AS(ValueError, !ops_.empty(), "SelectiveCheckpoint: the list of ops is empty");
}
SelectiveCheckpoint::SelectiveCheckpoint(Policy keep) : policy_(std::move(keep)) {
  HEARTH_CHECK_AS(TypeError, policy_,
                  "policy_fn_or_list must be either a function or a list of ops.");
}

std::vector<std::string> SelectiveCheckpoint::matmuls() {
  return {"mm", "addmm", "bmm", "baddbmm", "mv", "addmv"};
}

bool SelectiveCheckpoint::keeps(const std::string& op, const Tensor& result) const {
  return policy_ ? policy_(op, result) : std::find(ops_.begin(), ops_.end(), op) != ops_.end();
}

namespace detail {

namespace {

constexpr const char* kMismatch =
    "This can happen if the operations in the checkpointed region are nondeterministic or depend "
    "on global state that changed between forward and backward.";

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the op copies. Such calls are not counted: autocast caches its casts of weights, so
/// their number differs between forward and recomputation.
bool copies(std::string_view name) { return name == "_to_copy" || name == "clone"; }

}  // namespace

bool KeptResults::counts(const OpRecord& op, const Scope* outer) const {
  if (copies(op.info->name)) return false;
  // A random op that did not run would leave other numbers to the ops after it.
  if (redraws_ && op.info->effect == Effect::kRandom) return false;
  if (selection_.ops().empty() || contains(selection_.ops(), op.info->name)) return true;
  for (const Scope* scope = modes.scope; scope && scope != outer; scope = scope->outer)
    if (contains(selection_.ops(), scope->name)) return true;
  return false;
}

bool KeptResults::take(const OpRecord& op, size_t index, Outputs& outputs) {
  std::vector<Call>& calls = calls_[&op];
  // Backward inside the function may recompute calls that forward has not made yet.
  if (index >= calls.size() && !forward_completed_) return false;
  HEARTH_CHECK(!calls.empty(), op.info->name,
               " encountered during backward but not found in storage. ", kMismatch);
  HEARTH_CHECK(index < calls.size(), op.info->name, " invocation index ", index,
               " encountered during backward but not found in storage. ", kMismatch);
  Call& call = calls[index];
  if (call.state == State::kComputedAgain) return false;
  HEARTH_CHECK(call.state == State::kKept,
               "Trying to backward an extra time. You are only allowed to backward once on any "
               "region computed under selective activation checkpoint.");
  check_versions(op, call);
  outputs.clear();
  for (const Tensor& kept : call.outputs)
    outputs.push_back(kept.defined() ? shallow_alias(kept, false) : kept);
  if (forward_completed_) call = {State::kUsed, {}, {}};
  return true;
}

void KeptResults::check_versions(const OpRecord& op, const Call& call) const {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const Tensor& kept = call.outputs[i];
    HEARTH_CHECK(!kept.defined() || selection_.allow_cache_entry_mutation() ||
                     kept._version() == call.versions[i],
                 "Tensor cached during selective activation checkpoint has been mutated (output ",
                 i, " of ", op.info->name, ", ", kept.toString(), " ", kept.sizes(), ")");
  }
}

void KeptResults::computed(const OpRecord& op, const Outputs& outputs) {
  if (!counts(op, outer_)) return;
  std::vector<Call>& calls = calls_[&op];
  const bool by_list = !selection_.ops().empty();
  static const Tensor none;
  const Tensor& first = outputs.empty() ? none : outputs[0];
  if (!by_list && !selection_.keeps(op.info->name, first)) {
    calls.push_back({State::kComputedAgain, {}, {}});
    return;
  }
  Call call{State::kKept, {}, {}};
  for (const Tensor& output : outputs) {
    call.outputs.push_back(output.defined() ? shallow_alias(output, true) : output);
    call.versions.push_back(output.defined() ? output._version() : 0);
  }
  calls.push_back(std::move(call));
}

}  // namespace detail
}  // namespace hearth::utils
