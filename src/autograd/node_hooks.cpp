#include "hearth/autograd/node_hooks.h"

#include "autograd/node.h"

namespace hearth::autograd {

void Node::add_pre_hook(PreHook hook) {
  NodeState& state = NodeAccess::state(*this);
  const std::lock_guard lock(state.mutex);
  state.pre_hooks.push_back(std::move(hook));
}
void Node::add_post_hook(PostHook hook) {
  NodeState& state = NodeAccess::state(*this);
  const std::lock_guard lock(state.mutex);
  state.post_hooks.push_back(std::move(hook));
}

namespace {

/// A hook of LibTorch's kind as a function.
template <class Hook>
struct CalledHook {
  std::shared_ptr<Hook> hook;
  template <class... Lists>
  variable_list operator()(const Lists&... lists) const {
    return (*hook)(lists...);
  }
};

}  // namespace

void Node::add_pre_hook(std::unique_ptr<FunctionPreHook>&& hook) {
  add_pre_hook(PreHook(CalledHook<FunctionPreHook>{std::move(hook)}));
}

void Node::add_tensor_pre_hook(std::unique_ptr<FunctionPreHook>&& hook) {
  NodeState& state = NodeAccess::state(*this);
  const std::lock_guard lock(state.mutex);
  state.pre_hooks.insert(state.pre_hooks.begin() + static_cast<ptrdiff_t>(state.tensor_pre_hooks++),
                         CalledHook<FunctionPreHook>{std::move(hook)});
}

uintptr_t Node::add_post_hook(std::unique_ptr<FunctionPostHook>&& hook) {
  const auto key = reinterpret_cast<uintptr_t>(hook.get());
  add_post_hook(PostHook(CalledHook<FunctionPostHook>{std::move(hook)}));
  return key;
}

bool Node::del_post_hook(const uintptr_t& key) {
  NodeState& state = NodeAccess::state(*this);
  const std::lock_guard lock(state.mutex);
  return std::erase_if(state.post_hooks, [key](PostHook& hook) {
           const auto* const called = hook.target<CalledHook<FunctionPostHook>>();
           return called && reinterpret_cast<uintptr_t>(called->hook.get()) == key;
         }) > 0;
}

}  // namespace hearth::autograd
