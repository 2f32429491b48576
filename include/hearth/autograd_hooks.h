#pragma once

#include <any>
#include <functional>

#include "hearth/autograd.h"

namespace hearth::autograd {

struct SavedHooks;  // a pair of pack and unpack

/// While one lives, tensors that this thread saves for backward go through `pack`, and what it
/// returned through `unpack` when backward needs them: to keep them on another device, compressed
/// or on disk. Inner guards win.
class HEARTH_API SavedTensorHooks {
 public:
  /// Gets the tensor without its history, and must not modify it.
  using Pack = std::function<std::any(const Tensor& tensor)>;
  using Unpack = std::function<Tensor(const std::any& packed)>;
  SavedTensorHooks(Pack pack, Unpack unpack);
  ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

 private:
  IntrusivePtr<SavedHooks> hooks_;
  SavedHooks* previous_;
};

using PostAccumulateHook = std::function<void(const Tensor& leaf)>;
/// Calls hook(leaf) whenever backward has added to the leaf's gradient; returns a number to remove
/// it with.
HEARTH_API unsigned register_post_accumulate_grad_hook(const Tensor& leaf, PostAccumulateHook hook);
HEARTH_API void remove_post_accumulate_grad_hook(const Tensor& leaf, unsigned index);

/// A tensor over the same memory with a history of its own: a leaf, or the output that `edge`
/// names.
HEARTH_API Tensor make_variable(const Tensor& data, bool requires_grad = false);
HEARTH_API Tensor make_variable(const Tensor& data, const Edge& edge);
/// Where gradients of the tensor go: its grad_fn, or the node that accumulates into a leaf.
HEARTH_API Edge gradient_edge(const Tensor& tensor);

/// Passes its inputs on, and undefined gradients back.
class HEARTH_API UndefinedGrad : public Node {
 public:
  std::string name() const override { return "UndefinedGrad"; }
  variable_list apply(variable_list&& inputs) override;
};

}  // namespace hearth::autograd
