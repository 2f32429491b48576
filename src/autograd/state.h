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

/// One step from a base to a view: the op, its arguments and which of its outputs. Steps share
/// their beginnings.
struct ViewStep : RefCounted {
  ViewStep(const OpRecord& op, const void* op_args, int output, IntrusivePtr<ViewStep> before)
      : args(op, op_args), output_nr(output), previous(std::move(before)) {}
  static void destroy(ViewStep* step) noexcept;
  static void* operator new(size_t bytes) { return object_allocate(bytes); }
  static void operator delete(void* memory, size_t bytes) noexcept { object_free(memory, bytes); }
  OpArgs args;
  int output_nr;
  IntrusivePtr<ViewStep> previous;
};

/// How a view came to be; decides what an in-place write to it may do.
enum class ViewOrigin : int8_t {
  kDefault,
  kMultipleOutputs,  // one of several views from one op
  kNoGrad,           // made under no_grad, its base requires grad
  kInference,        // made in inference mode
  kCustomFunction,
};

/// A view's root and the steps that lead from there to it.
struct ViewInfo {
  Tensor base;
  IntrusivePtr<ViewStep> last_step;
  ViewOrigin origin = ViewOrigin::kDefault;
  uint32_t base_reshapes = 0;  // the base's when the view was made
  uint32_t version = 0;        // of the storage when grad_fn was last made
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
  uint32_t reshapes = 0;                  // how often t_() and its like changed its geometry
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
/// Remembers that `view` is output `output_nr` of op(base, args).
void record_view(const Tensor& view, const Tensor& base, const OpRecord& op, const void* args,
                 int output_nr, ViewOrigin origin);
/// In place: `tensor` takes on the geometry and the history of `view`, which was made of it.
void become_view(const Tensor& tensor, const Tensor& view);
/// Throws PyTorch's errors if `tensor` may not be written to now.
void check_inplace(const Tensor& tensor, bool will_require_grad);

/// Runs the view steps on another tensor of the base's geometry.
Tensor replay_views(const ViewStep* last, const Tensor& base);

}  // namespace hearth::autograd

namespace hearth {
/// The op boundary, for replays (see ops/call.h).
Tensor call_erased(const OpRecord& op, const void* args, Inputs inputs, size_t output_nr);
}  // namespace hearth
