#pragma once

#include <string>
#include <vector>

#include "autograd/state.h"

namespace hearth::autograd {

/// A tensor that wants its gradient kept though it is no leaf. The tensor's state clears `owner`
/// when it goes.
struct RetainedGrad {
  std::mutex mutex;
  TensorState* owner = nullptr;
};

/// What few nodes have: hooks, and where their forward was called. The lists change under the mutex
/// and are copied before they run, since a hook may register another one.
struct NodeState {
  std::mutex mutex;
  std::vector<Node::PreHook> pre_hooks;
  std::vector<Node::PostHook> post_hooks;
  struct OfTensor {
    uint32_t input_nr;
    std::shared_ptr<TensorHooks> hooks;
  };
  std::vector<OfTensor> tensor_hooks;
  struct Retained {
    uint32_t input_nr;
    std::shared_ptr<RetainedGrad> grad;
  };
  std::vector<Retained> retained;
  std::string forward_trace;
  NodePtr made_by;  // the backward node during which this one was recorded
};

/// The engine's door to a node's insides.
struct NodeAccess {
  static NodeState& state(Node& node);
  static NodeState* state_if_any(const Node& node) {
    return node.state_.load(std::memory_order_acquire);
  }
  static void set_sequence_nr(Node& node, uint64_t number) { node.sequence_nr_ = number; }
  /// The node's work on gradients of the right looks, as the engine delivers them.
  static variable_list call(Node& node, variable_list&& grads);
  /// Throws unless the gradients look like the node's outputs; undefined ones do.
  static void check_gradients(const Node& node, const variable_list& grads);
  /// Runs the hooks of tensors (and keeps retained gradients) on the gradients that reached the
  /// node.
  static void run_tensor_hooks(Node& node, variable_list& grads);
  /// The same for gradients that are captured and go no further; those of leaves too.
  static void run_capture_hooks(Node& node, variable_list& grads);
};

/// Throws unless the edge names an input that its node has.
void check_input_number(const Edge& edge);

/// A copy of one of a node's lists.
template <class List>
List snapshot(NodeState& state, List NodeState::*list) {
  const std::lock_guard lock(state.mutex);
  return state.*list;
}

/// Runs one tensor's hooks on its gradient.
void run_hooks(TensorHooks& hooks, Tensor& grad);

/// Adds gradients to a leaf. There is one per leaf; the leaf holds it weakly.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  ~AccumulateGrad() override;
  std::string name() const override { return "AccumulateGrad"; }
  const Tensor& variable() const { return variable_; }
  /// Runs the hooks registered on the leaf.
  void run_leaf_hooks(Tensor& grad);

 protected:
  variable_list apply(variable_list&& grads) override;

 private:
  void accumulate(Tensor grad);
  Tensor variable_;
};

/// The history of a base one of whose views was written to: the gradient of the written part goes
/// through `fn`, the rest passes.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const TensorImpl& view, NodePtr fn);
  std::string name() const override { return "CopySlices"; }
  void release_variables() override { fn_->release_variables(); }

 protected:
  variable_list apply(variable_list&& grads) override;

 private:
  Dims sizes_, strides_, view_sizes_, view_strides_;
  int64_t view_offset_;  // from the base's first element
  NodePtr fn_;
};

}  // namespace hearth::autograd
