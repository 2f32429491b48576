#include "distributed/sharding/sharded_module.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "distributed/sharding/module_values.h"
#include "hearth/autograd_hooks.h"
#include "hearth/nn/module.h"
#include "hearth/operators.h"

namespace hearth::distributed {

namespace {

/// The sharded modules of this process by their module's address.
struct Registry {
  std::mutex mutex;
  std::unordered_map<const nn::Module*, std::weak_ptr<ShardedModule>> modules;
};
Registry& registry() {
  static Registry all;
  return all;
}

/// Whether a forward() runs inside backward, as in checkpointing.
bool is_recomputation() { return autograd::current_graph_task_id() >= 0; }

void cast_floating(std::vector<nn::AnyValue*> values, std::optional<ScalarType> dtype) {
  if (!dtype) return;
  for (nn::AnyValue* value : values)
    visit_module_tensors(*value, [&](Tensor& tensor) {
      if (tensor.is_floating_point() && tensor.scalar_type() != *dtype) tensor = tensor.to(*dtype);
    });
}

/// Appends the value's tensors that have a history; returns false if its type is unknown.
bool add_recorded(nn::AnyValue& value, std::vector<Tensor>& recorded) {
  return visit_module_tensors(value, [&](Tensor& tensor) {
    if (tensor.requires_grad() && !tensor.is_leaf()) recorded.push_back(tensor);
  });
}

}  // namespace

ShardedModule::ShardedModule(const nn::Module& module, std::shared_ptr<ShardedParams> params,
                             const FullyShardOptions& options, ShardedTree::Members inside)
    : reshard_after_forward(options.reshard_after_forward()),
      module_(&module),
      params_(std::move(params)),
      policy_(options.mp_policy()),
      inside_(std::move(inside)) {}

std::shared_ptr<ShardedModule> ShardedModule::find(const nn::Module& module) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().modules.find(&module);
  return found == registry().modules.end() ? nullptr : found->second.lock();
}

void ShardedModule::register_hooks(nn::Module& module) {
  const auto self = shared_from_this();
  {
    const std::lock_guard lock(registry().mutex);
    std::erase_if(registry().modules, [](const auto& item) { return item.second.expired(); });
    registry().modules[&module] = self;
  }
  // The module's hooks own this object; the parameters' hooks do not, because it owns them.
  module.register_forward_pre_hook(
      [self](nn::Module& called, std::vector<nn::AnyValue>& arguments) {
        self->pre_forward(called, arguments);
      },
      /*prepend=*/true);
  module.register_forward_hook([self](nn::Module&, const std::vector<nn::AnyValue>&,
                                      nn::AnyValue& result) { self->post_forward(result); });
  module.register_load_state_dict_pre_hook(
      [self](nn::Module&, OrderedDict<std::string, Tensor>& state, const std::string& path) {
        self->params().take_rows(state, path);
      });
  params_->watch_gradients([weak = weak_from_this()] {
    if (const auto owner = weak.lock(); owner && owner->tree_)
      owner->tree_->finish_at_end_of_backward(owner->tree_);
  });
}

std::vector<std::shared_ptr<ShardedModule>> ShardedModule::members(bool recurse) {
  std::vector<std::shared_ptr<ShardedModule>> all{shared_from_this()};
  if (recurse)
    for (const auto& weak : inside_)
      if (auto member = weak.lock()) all.push_back(std::move(member));
  return all;
}

void ShardedModule::become_root() {
  tree_ = std::make_shared<ShardedTree>();
  tree_->root = weak_from_this();
  for (const auto& member : members(/*recurse=*/true)) {
    tree_->members.push_back(member);
    member->tree_ = tree_;
  }
}

bool ShardedModule::is_root() const { return tree_->root.lock().get() == this; }

void ShardedModule::pre_forward(const nn::Module& module, std::vector<nn::AnyValue>& arguments) {
  HEARTH_CHECK(&module == module_, "fully_shard was applied to another module, of which '",
               module.name(), "' is a copy; copy a module before fully_shard");
  if (!tree_) become_root();
  std::vector<nn::AnyValue*> values;
  for (nn::AnyValue& argument : arguments) values.push_back(&argument);
  if (policy_.cast_forward_inputs()) cast_floating(values, policy_.param_dtype());
  if (is_recomputation()) return params_->unshard();
  if (is_root()) tree_->begin_forward();
  tree_->order.push_back(weak_from_this());
  params_->unshard();
  prefetch_next();
  call_ = std::make_shared<Call>();
  if (!GradMode::is_enabled()) return;
  std::vector<Tensor> recorded;
  for (nn::AnyValue* value : values) add_recorded(*value, recorded);
  watch_arguments(recorded);
}

void ShardedModule::prefetch_next() const {
  if (const auto next = tree_->expected_next()) next->params().start_unshard();
}

void ShardedModule::post_forward(nn::AnyValue& result) {
  if (!is_recomputation()) {
    std::vector<Tensor> recorded;
    const bool knows_results = add_recorded(result, recorded);
    const bool needs_backward = GradMode::is_enabled() && (!recorded.empty() || !knows_results);
    if (needs_backward) watch_results(recorded);
    if (is_root()) tree_->end_forward();
    if (should_reshard(knows_results, needs_backward)) params_->reshard();
  }
  cast_floating({&result}, policy_.output_dtype());
}

bool ShardedModule::should_reshard(bool knows_results, bool needs_backward) const {
  if (!needs_backward) return true;
  // Without a gradient hook on the results, backward could not gather the parameters again.
  return knows_results && reshard_after_forward.value_or(!is_root());
}

/// Lets backward call post_backward() when the gradients of all arguments are known. Those of the
/// parameters are known then, because nodes that were recorded later run earlier.
void ShardedModule::watch_arguments(const std::vector<Tensor>& arguments) {
  for (const Tensor& argument : arguments)
    argument.register_hook(
        [weak = weak_from_this(), call = call_, count = arguments.size()](const Tensor&) {
          const auto self = weak.lock();
          if (++call->num_known % count != 0 || !self) return;
          if (std::exchange(call->backward_pass, -1) != -1) --self->running_calls_;
          self->post_backward();
        });
}

void ShardedModule::watch_results(const std::vector<Tensor>& results) {
  call_->before = std::exchange(tree_->last_recorded, weak_from_this());
  for (const Tensor& result : results)
    result.register_hook([weak = weak_from_this(), call = call_](const Tensor&) {
      if (const auto self = weak.lock()) self->pre_backward(*call);
    });
}

void ShardedModule::pre_backward(Call& call) {
  tree_->finish_at_end_of_backward(tree_);
  const int64_t pass = autograd::current_graph_task_id();
  if (std::exchange(call.backward_pass, pass) != pass) ++running_calls_;
  params_->unshard();
  if (const auto before = call.before.lock()) before->params().start_unshard();
}

void ShardedModule::post_backward() {
  if (requires_gradient_sync) tree_->reduce(params_);
  // Another call's backward may be running: a result of one call can be an argument of the next.
  if (reshard_after_backward && running_calls_ == 0) params_->reshard();
}

void ShardedModule::end_calls() {
  running_calls_ = 0;
  post_backward();
}

void ShardedModule::finish_backward() {
  params_->finish_reduction();
  params_->restore_gradients();
}

void ShardedModule::abandon_backward() {
  running_calls_ = 0;
  params_->drop_unreduced();
  params_->reshard();
}

}  // namespace hearth::distributed
