#pragma once

#include <string>
#include <vector>

#include "autograd/state.h"
#include "hearth/autograd/accumulate_grad.h"

namespace hearth::autograd {

/// A non-leaf tensor that retains its gradient. The destructor of the tensor's state clears
/// `owner`.
struct RetainedGrad {
  std::mutex mutex;
  TensorState* owner = nullptr;
};

/// State that few nodes need: hooks, retained gradients and, for anomaly mode, the origin of the
/// node. The lists change under the mutex. They are copied before the hooks run, since a hook may
/// register another one.
struct NodeState {
  std::mutex mutex;
  std::vector<Node::PreHook> pre_hooks;
  std::vector<Node::PostHook> post_hooks;
  struct HookedTensor {
    uint32_t input_nr;
    std::shared_ptr<TensorHooks> hooks;
  };
  std::vector<HookedTensor> tensor_hooks;
  struct Retained {
    uint32_t input_nr;
    std::shared_ptr<RetainedGrad> grad;
  };
  std::vector<Retained> retained;
  std::string forward_trace;
  NodePtr recorded_by;          // the backward node that was running when this one was recorded
  std::shared_ptr<Node> owner;  // of a node that a std::shared_ptr owns, while NodePtrs refer to it
  size_t tensor_pre_hooks = 0;  // the number of add_tensor_pre_hook's hooks, first in pre_hooks
};

/// Engine access to node internals.
struct NodeAccess {
  static NodeState& state(Node& node);
  static NodeState* state_if_any(const Node& node) {
    return node.state_.load(std::memory_order_acquire);
  }
  /// Runs the node and its hooks on gradients that have the outputs' metadata.
  static variable_list call(Node& node, variable_list&& grads);
  /// Throws unless all defined gradients have the outputs' metadata.
  static void check_gradients(const Node& node, const variable_list& grads);
  /// Runs the hooks of the node's output tensors on their gradients, and stores retained gradients.
  static void run_tensor_hooks(Node& node, variable_list& grads);
  /// The same for captured gradients, including those of leaves; the node itself does not run.
  static void run_capture_hooks(Node& node, variable_list& grads);
};

/// Throws unless the edge's node has the input that it names.
void check_input_number(const Edge& edge);

/// A copy of one of the lists in a node's state.
template <class List>
List snapshot(NodeState& state, List NodeState::*list) {
  const std::lock_guard lock(state.mutex);
  return state.*list;
}

/// Runs one tensor's hooks on its gradient.
void run_hooks(TensorHooks& hooks, Tensor& grad);

/// The history of a base after an in-place write to one of its views: the gradient of the written
/// part passes through `fn`, the rest is unchanged.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const TensorImpl& view, NodePtr fn);
  std::string name() const override { return "torch::autograd::CopySlices"; }
  void release_variables() override { fn_->release_variables(); }

 protected:
  variable_list apply(variable_list&& grads) override;

 private:
  /// Memory for the base's gradient, in which the view's part is aligned as in the base.
  Tensor empty_base(const TensorOptions& options) const;

  Dims sizes_, strides_, view_sizes_, view_strides_;
  ScalarType view_dtype_;
  int64_t view_offset_;  // from the base's first element, in elements of the view, rounded up
  int64_t shift_;        // 1 if a real base begins in the middle of a complex element, else 0
  NodePtr fn_;
};

}  // namespace hearth::autograd
