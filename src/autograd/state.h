#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/cpu_allocator.h"
#include "core/op.h"
#include "core/spin_lock.h"
#include "hearth/autograd.h"
#include "hearth/autograd_hooks.h"

namespace hearth::autograd {

class AccumulateGrad;
struct RetainedGrad;

/// How a view came to be; decides what an in-place write to it may do.
enum class ViewOrigin : int8_t {
  kDefault,
  kMultipleOutputs,  // one of several views from one op
  kNoGrad,           // made under no_grad, its base requires grad
  kInference,        // made in inference mode
  kCustomFunction,
};

/// The tensor whose memory a view shows, itself no view. The view's own sizes, strides and offset
/// say which part: its history from there is one as_strided, however long the chain of views was.
struct ViewInfo {
  Tensor base;
  ViewOrigin origin = ViewOrigin::kDefault;
  uint32_t version = 0;  // of the storage when grad_fn was last made
};

/// A hook on a tensor's gradient and the number the user knows it by.
struct TensorHook {
  unsigned id;
  std::shared_ptr<detail::GradHook> hook;
};
struct TensorHooks {
  std::mutex mutex;
  std::vector<TensorHook> hooks;  // a removed one has a null hook
};

/// What follows when a leaf's gradient was added to; null where a hook was removed.
struct PostAccumulateHooks {
  void run(const Tensor& leaf);
  std::mutex mutex;
  std::vector<PostAccumulateHook> hooks;
};

/// Autograd's part of a tensor.
struct TensorState final : AutogradState {
  ~TensorState() override;
  Tensor grad;
  NodePtr grad_fn;
  uint32_t output_nr = 0;
  std::unique_ptr<ViewInfo> view;
  std::shared_ptr<TensorHooks> hooks;
  std::shared_ptr<PostAccumulateHooks> after_accumulate;
  const Node* hooks_on = nullptr;  // the grad_fn they were registered with
  std::string name;
  SpinLock mutex;
  std::shared_ptr<RetainedGrad> retained;
  AccumulateGrad* accumulator = nullptr;  // weak: it owns the tensor and clears this when it goes
};

/// The state of a tensor, made if there is none.
TensorState& state_of(TensorImpl& impl);
inline TensorState* state_if_any(const TensorImpl& impl) {
  return static_cast<TensorState*>(impl.autograd.get());
}
inline ViewInfo* view_info(const TensorImpl& impl) {
  return impl.has(kIsView) && impl.autograd ? state_if_any(impl)->view.get() : nullptr;
}

/// The node that produced the tensor; null for leaves. A view whose base was written to gets a new
/// one here.
const NodePtr& grad_fn_of(const Tensor& tensor);
/// A view does so too once its base does.
inline bool requires_grad(const TensorImpl& impl) {
  if (impl.has(kRequiresGrad | kHasGradFn)) return true;
  const ViewInfo* view = view_info(impl);
  return view && impl_of(view->base).has(kRequiresGrad | kHasGradFn);
}

/// Whether nobody else can see the tensor or its memory: it may be written to or kept.
inline bool is_unshared(const Tensor& tensor) {
  const TensorImpl& impl = impl_of(tensor);
  return impl.use_count() == 1 && impl.storage && impl.storage->use_count() == 1 &&
         !impl.has(kIsView);
}

/// Makes `tensor` output `nr` of `node`.
void set_history(const Tensor& tensor, NodePtr node, uint32_t nr);
/// After an in-place op: `tensor` becomes the output of `node`; for a view, its base's history is
/// rewritten.
void rebase_history(const Tensor& tensor, NodePtr node);
/// Remembers that `view` shows the memory of `base`, which may be a view itself.
void record_view(const Tensor& view, const Tensor& base, ViewOrigin origin);
/// In place: `tensor` takes on the geometry and the history of `view`, which was made of it.
void become_view(const Tensor& tensor, const Tensor& view);
/// Throws if `tensor` is an inference tensor and inference mode is off: nothing may write to it.
void check_no_inference(const Tensor& tensor);
/// Throws PyTorch's errors if `tensor` may not be written to now.
void check_inplace(const Tensor& tensor, bool will_require_grad);
/// Another accumulator serves the leaf from now on: the present one remembers its former looks.
void drop_accumulator(TensorState& state);

}  // namespace hearth::autograd
