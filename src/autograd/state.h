#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/cpu_allocator.h"
#include "core/op.h"
#include "core/spin_lock.h"
#include "hearth/autograd.h"
#include "hearth/autograd/history.h"
#include "hearth/autograd_hooks.h"

namespace hearth::autograd {

class AccumulateGrad;
struct RetainedGrad;

/// The origin of a view, which determines whether in-place writes to it are allowed.
enum class ViewOrigin : int8_t {
  kDefault,
  kMultipleOutputs,  // one of several views from one op
  kNoGrad,           // created under no_grad from a base that requires grad
  kInference,        // created in inference mode
  kCustomFunction,
};

/// The base of a view: the tensor at the root of the chain of views. The view's sizes, strides and
/// offset define its part of the base, so its history is one as_strided of the base, however long
/// the chain.
struct ViewInfo {
  Tensor base;
  ViewOrigin origin = ViewOrigin::kDefault;
  uint32_t version = 0;  // of the storage when grad_fn was last set
};

/// The view of base with this dtype, sizes, strides and offset. `dtype` is the base's or, as in
/// view_as_real and view_as_complex, its real or complex counterpart.
Tensor view_of_base(const Tensor& base, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides,
                    int64_t offset);

/// A hook on a tensor's gradient, and the number by which the user can remove it.
struct TensorHook {
  unsigned id;
  std::shared_ptr<detail::GradHook> hook;
};
struct TensorHooks {
  std::mutex mutex;
  std::vector<TensorHook> hooks;  // a removed one has a null hook
};

/// Hooks that run after a leaf's gradient was accumulated; null where a hook was removed.
struct PostAccumulateHooks {
  void run(const Tensor& leaf);
  std::mutex mutex;
  std::vector<PostAccumulateHook> hooks;
};

/// Autograd's state of a tensor.
struct TensorState final : AutogradState {
  ~TensorState() override;
  Tensor grad;
  NodePtr grad_fn;
  uint32_t output_nr = 0;
  std::unique_ptr<ViewInfo> view;
  Tensor tangent;                    // of forward-mode AD (tangents.h)
  std::atomic<bool> is_dual{false};  // whether the level knows this tensor
  std::shared_ptr<TensorHooks> hooks;
  std::shared_ptr<PostAccumulateHooks> after_accumulate;
  const Node* hooked_node = nullptr;  // the grad_fn with which `hooks` are registered
  std::string name;
  SpinLock mutex;
  std::shared_ptr<RetainedGrad> retained;
  AccumulateGrad* accumulator = nullptr;  // weak: it owns the tensor; its destructor clears this
};

/// The state of a tensor, created if there is none.
TensorState& state_of(TensorImpl& impl);
inline TensorState* state_if_any(const TensorImpl& impl) {
  return static_cast<TensorState*>(impl.autograd.get());
}
inline ViewInfo* view_info(const TensorImpl& impl) {
  return impl.has(kIsView) && impl.autograd ? state_if_any(impl)->view.get() : nullptr;
}

/// The node that produced the tensor; null for leaves. The history of a view is updated here if its
/// base was written to.
const NodePtr& grad_fn_of(const Tensor& tensor);
/// Whether the tensor requires grad: a leaf that does, a result with history, or a view of a base
/// that requires grad.
inline bool requires_grad(const TensorImpl& impl) {
  if (impl.has(kRequiresGrad | kHasGradFn)) return true;
  const ViewInfo* view = view_info(impl);
  return view && impl_of(view->base).has(kRequiresGrad | kHasGradFn);
}

/// The position of a view's first element from that of its base, in elements of the view.
inline int64_t offset_from(const TensorImpl& view, const TensorImpl& base) {
  return view.offset -
         base.offset * int64_t(element_size(base.dtype)) / int64_t(element_size(view.dtype));
}

/// Whether this is the only reference to the tensor and its memory, so that it may be overwritten
/// or kept without a copy.
inline bool is_unshared(const Tensor& tensor) {
  const TensorImpl& impl = impl_of(tensor);
  return impl.use_count() == 1 && impl.storage && impl.storage->use_count() == 1 &&
         !impl.has(kIsView);
}

/// Makes `tensor` output `nr` of `node`.
void set_history(const Tensor& tensor, NodePtr node, uint32_t nr);
/// After an in-place op: `tensor` becomes the output of `node`; for a view, its base's history is
/// rewritten.
void rewrite_history(const Tensor& tensor, NodePtr node);
/// Records that `view` is a view of `base`, which may be a view itself.
void record_view(const Tensor& view, const Tensor& base, ViewOrigin origin);
/// Replaces the geometry and the history of `tensor` by those of `view`, a view of it.
void become_view(const Tensor& tensor, const Tensor& view);
/// Throws if `tensor` is an inference tensor and inference mode is off, for in-place ops.
void check_not_inference_tensor(const Tensor& tensor);
/// Detaches the leaf from its accumulator, which has the leaf's old metadata; a new one is created
/// when needed.
void drop_accumulator(TensorState& state);

}  // namespace hearth::autograd
