#pragma once

#include <any>
#include <functional>

#include "hearth/autograd.h"

namespace hearth::autograd {

struct SavedHooks;  // pack and unpack

/// During its lifetime, `pack` replaces each tensor that this thread saves for backward, for
/// example by a copy on another device or on disk, and `unpack` restores the tensor. The newest of
/// several SavedTensorHooks applies.
class HEARTH_API SavedTensorHooks {
 public:
  /// Receives the detached tensor, which it must not modify.
  using Pack = std::function<std::any(const Tensor& tensor)>;
  using Unpack = std::function<Tensor(const std::any& packed)>;  ///< returns the saved tensor
  SavedTensorHooks(Pack pack, Unpack unpack);
  ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

 private:
  IntrusivePtr<SavedHooks> hooks_;
  SavedHooks* previous_;
};

namespace graph {

using saved_tensors_hooks = SavedTensorHooks;  ///< Python's name

/// During its lifetime, tensors that this thread saves for backward are kept in the host's memory,
/// and copied back when backward reads them.
class HEARTH_API save_on_cpu {
 public:
  /// With `pin_memory`, in page-locked memory: copies back do not wait.
  explicit save_on_cpu(bool pin_memory = false);

 private:
  SavedTensorHooks hooks_;
};

}  // namespace graph

/// The number of the backward pass that runs on this thread, the innermost if several are nested;
/// -1 if none runs. No other pass of the process has the same number.
HEARTH_API int64_t current_graph_task_id();

using PostAccumulateHook = std::function<void(const Tensor& leaf)>;  ///< called with the leaf
/// Calls hook(leaf) after each accumulation into the leaf's gradient; returns the hook's index.
HEARTH_API unsigned register_post_accumulate_grad_hook(const Tensor& leaf, PostAccumulateHook hook);
/// Removes the hook for which register_post_accumulate_grad_hook returned `index`.
HEARTH_API void remove_post_accumulate_grad_hook(const Tensor& leaf, unsigned index);

/// A leaf that shares the memory of `data`.
HEARTH_API Tensor make_variable(const Tensor& data, bool requires_grad = false);
/// A tensor that shares the memory of `data` and is output edge.input_nr of edge.function.
HEARTH_API Tensor make_variable(const Tensor& data, const Edge& edge);
/// The destination of the tensor's gradient: its grad_fn, or the node that accumulates into a leaf.
HEARTH_API Edge gradient_edge(const Tensor& tensor);

/// A node that returns its inputs in forward and undefined gradients in backward.
class HEARTH_API UndefinedGrad : public Node {
 public:
  std::string name() const override { return "UndefinedGrad"; }
  variable_list apply(variable_list&& inputs) override;
};

}  // namespace hearth::autograd
