#include "hearth/autograd_hooks.h"

#include "autograd/node.h"
#include "autograd/saved_hooks.h"
#include "autograd/state.h"
#include "core/modes.h"
#include "hearth/autograd/basic_nodes.h"

namespace hearth::autograd {

SavedTensorHooks::SavedTensorHooks(Pack pack, Unpack unpack)
    : hooks_(IntrusivePtr<SavedHooks>::adopt(new SavedHooks(std::move(pack), std::move(unpack)))),
      previous_(modes.saved_hooks) {
  modes.saved_hooks = hooks_.get();
}
SavedTensorHooks::~SavedTensorHooks() { modes.saved_hooks = previous_; }

unsigned register_post_accumulate_grad_hook(const Tensor& leaf, PostAccumulateHook hook) {
  HEARTH_CHECK(leaf.requires_grad(),
               "cannot register a hook on a tensor that doesn't require gradient");
  HEARTH_CHECK(leaf.is_leaf(),
               "post accumulate grad hooks cannot be registered on non-leaf tensors");
  TensorState& state = state_of(impl_of(leaf));
  const std::lock_guard lock(state.mutex);
  if (!state.after_accumulate) state.after_accumulate = std::make_shared<PostAccumulateHooks>();
  const std::lock_guard hooks_lock(state.after_accumulate->mutex);
  state.after_accumulate->hooks.push_back(std::move(hook));
  return static_cast<unsigned>(state.after_accumulate->hooks.size() - 1);
}

void remove_post_accumulate_grad_hook(const Tensor& leaf, unsigned index) {
  TensorState* state = leaf.defined() ? state_if_any(impl_of(leaf)) : nullptr;
  std::shared_ptr<PostAccumulateHooks> list;
  if (state) {
    const std::lock_guard lock(state->mutex);
    list = state->after_accumulate;
  }
  HEARTH_CHECK(list, "Invalid index, no hook at position ", index);
  const std::lock_guard lock(list->mutex);
  HEARTH_CHECK(index < list->hooks.size(), "Invalid index, no hook at position ", index);
  list->hooks[index] = nullptr;
}

void PostAccumulateHooks::run(const Tensor& leaf) {
  std::vector<PostAccumulateHook> snapshot;
  {
    const std::lock_guard lock(mutex);
    snapshot = hooks;
  }
  for (const PostAccumulateHook& hook : snapshot)
    if (hook) hook(leaf);
}

Tensor make_variable(const Tensor& data, bool requires_grad) {
  if (!data.defined()) return {};
  Tensor result = shallow_alias(data, false);
  if (requires_grad) result.requires_grad_();
  return result;
}

Tensor make_variable(const Tensor& data, const Edge& edge) {
  if (!data.defined()) return {};
  if (edge.is_valid()) check_input_number(edge);
  Tensor result = shallow_alias(data, false);
  if (edge.is_valid()) set_history(result, edge.function, edge.input_nr);
  return result;
}

variable_list UndefinedGrad::apply(variable_list&& inputs) {
  const auto node = NodePtr::adopt(new UndefinedGradBackward);
  variable_list outputs;
  for (const Tensor& input : inputs) {
    if (!input.defined()) {
      outputs.emplace_back();
      continue;
    }
    node->add_next_edge(gradient_edge(input));
    outputs.push_back(make_variable(input, Edge{node, node->add_input_metadata(input)}));
  }
  return outputs;
}

}  // namespace hearth::autograd
