#include "autograd/state.h"

#include "autograd/node.h"
#include "autograd/tangents.h"
#include "core/modes.h"

namespace hearth::autograd {

TensorState::~TensorState() {
  if (is_dual.load(std::memory_order_acquire)) forget_tangent(*this);
  if (!retained) return;
  const std::lock_guard lock(retained->mutex);
  retained->owner = nullptr;
}

Tensor view_of_base(const Tensor& base, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides,
                    int64_t offset) {
  if (base.scalar_type() == dtype) return base.as_strided(sizes, strides, offset);
  if (base.is_complex()) return view_as_real(base).as_strided(sizes, strides, offset);
  Dims all(sizes), steps(strides);
  for (int64_t& step : steps) step *= 2;
  all.push_back(2);
  steps.push_back(1);
  return view_as_complex(base.as_strided(all, steps, 2 * offset));
}

TensorState& state_of(TensorImpl& impl) {
  if (!impl.autograd) impl.autograd = std::make_unique_for_overwrite<TensorState>();
  return static_cast<TensorState&>(*impl.autograd);
}

namespace {

/// Returns the first sentence of the error, e.g. "Output 0 of X is a view and is being modified
/// inplace." `event` stands before "modified": "is being" or "its base or another view of its base
/// has been".
std::string describe_write(const TensorState& view, const char* event) {
  const NodePtr& fn = view.grad_fn;
  const std::string output =
      fn ? detail::str("Output ", view.output_nr, " of ", fn->name(), " is a view") : std::string();
  const ViewOrigin origin = view.view->origin;
  if (fn && origin != ViewOrigin::kInference && origin != ViewOrigin::kNoGrad)
    return detail::str(output, " and ", event, " modified inplace.");
  const bool is_inference = origin == ViewOrigin::kInference;
  return detail::str(
      fn ? output + " of a view which was created in " : std::string("A view was created in "),
      is_inference ? "inference mode and " : "no_grad mode and ", event, " modified inplace ",
      is_inference ? "in normal mode." : "with grad mode enabled.");
}

/// The explanation that PyTorch adds to the error, with the way to avoid it.
const char* explanation_of(ViewOrigin origin) {
  switch (origin) {
    case ViewOrigin::kMultipleOutputs:
      return " This view is the output of a function that returns multiple views. Such functions "
             "do not allow the "
             "output views to be modified inplace. You should replace the inplace operation by an "
             "out-of-place one.";
    case ViewOrigin::kNoGrad:
      return " Given that this use case is ambiguous and error-prone, it is forbidden. You can "
             "clarify your code by "
             "moving both the view and the inplace either both inside the no_grad block (if you "
             "don't want the inplace "
             "to be tracked) or both outside (if you want the inplace to be tracked).";
    case ViewOrigin::kInference:
      return " Given that this use case is ambiguous and error-prone, it is forbidden. You can "
             "clarify your code by "
             "moving both the view and the inplace either both inside the inference_mode block (if "
             "you don't want the "
             "inplace to be tracked) or both outside (if you want the inplace to be tracked).";
    default:
      return " This view was created inside a custom Function (or because an input was returned "
             "as-is) and the "
             "autograd logic to handle view+inplace would override the custom backward associated "
             "with the custom "
             "Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
             "this by cloning the "
             "output of the custom Function.";
  }
}

/// Throws PyTorch's error for an in-place write to a view whose origin does not allow it.
[[noreturn]] void refuse_view(const TensorState& view, const char* event) {
  detail::fail<hearth::Error>(describe_write(view, event), explanation_of(view.view->origin));
}

/// Moves the tensor's retain_grad() from its former grad_fn to `node`. The tensor is now output
/// `nr` of `node`.
void move_retained(TensorState& state, Node& node, uint32_t nr) {
  if (NodeState* old = state.grad_fn ? NodeAccess::state_if_any(*state.grad_fn) : nullptr) {
    const std::lock_guard lock(old->mutex);
    std::erase_if(old->retained,
                  [&](const NodeState::Retained& entry) { return entry.grad == state.retained; });
  }
  NodeState& target = NodeAccess::state(node);
  const std::lock_guard lock(target.mutex);
  target.retained.push_back({nr, state.retained});
}

/// If the memory was written to since the view's grad_fn was set, derives the view's history from
/// the base again.
void refresh_view(const Tensor& tensor, TensorState& state) {
  ViewInfo& view = *state.view;
  const uint32_t version = impl_of(tensor).version();
  if (view.version == version || !requires_grad(impl_of(view.base))) return;
  if (modes.flags & kInferenceMode) return;  // nothing is recorded: refreshed later
  if (view.origin != ViewOrigin::kDefault)
    refuse_view(state, "its base or another view of its base has been");
  const AutoGradMode on(true);
  const TensorImpl& impl = impl_of(tensor);
  const Tensor same_view =
      view_of_base(view.base, impl.dtype, impl.sizes(), impl.strides(), impl.offset);
  const TensorState* recorded = state_if_any(impl_of(same_view));
  const NodePtr grad_fn = recorded ? recorded->grad_fn : NodePtr();
  const uint32_t output_nr = recorded ? recorded->output_nr : 0;
  if (state.retained && grad_fn) move_retained(state, *grad_fn, output_nr);
  state.grad_fn = grad_fn;
  state.output_nr = output_nr;
  view.version = version;
}

}  // namespace

const NodePtr& grad_fn_of(const Tensor& tensor) {
  static const NodePtr none;
  const TensorImpl& impl = impl_of(tensor);
  TensorState* state = state_if_any(impl);
  if (!state) return none;
  if (state->view) {
    const std::lock_guard lock(state->mutex);
    refresh_view(tensor, *state);
  }
  return state->grad_fn;
}

Edge gradient_edge(const Tensor& tensor) {
  HEARTH_CHECK(tensor.defined(), "cannot call get_autograd_meta() on undefined tensor");
  TensorImpl& impl = impl_of(tensor);
  if (const NodePtr& fn = grad_fn_of(tensor)) return {fn, state_if_any(impl)->output_nr};
  if (!requires_grad(impl)) return {};
  TensorState& state = state_of(impl);
  const std::lock_guard lock(state.mutex);
  // Another thread may be dropping the last reference to the accumulator. Its destructor takes this
  // lock before it clears the pointer, so the object still exists here; its count is raised only if
  // it is not yet zero.
  if (state.accumulator && state.accumulator->retain_if_alive())
    return {NodePtr::adopt(state.accumulator), 0};
  auto* accumulator = new AccumulateGrad(tensor);
  state.accumulator = accumulator;
  return {NodePtr::adopt(accumulator), 0};
}

void drop_accumulator(TensorState& state) {
  const std::lock_guard lock(state.mutex);
  state.accumulator = nullptr;
}

void set_history(const Tensor& tensor, NodePtr node, uint32_t nr) {
  TensorImpl& impl = impl_of(tensor);
  TensorState& state = state_of(impl);
  if (state.retained) [[unlikely]]
    move_retained(state, *node, nr);
  state.grad_fn = std::move(node);
  state.output_nr = nr;
  if (state.view) state.view->version = impl.version();
  impl.flags = (impl.flags & ~uint32_t(kRequiresGrad)) | kHasGradFn;
}

void record_view(const Tensor& view, const Tensor& base, ViewOrigin origin) {
  TensorImpl& impl = impl_of(view);
  TensorImpl& source = impl_of(base);
  impl.share_version(source);
  impl.flags |= kIsView;
  TensorState& state = state_of(impl);
  state.view = std::make_unique<ViewInfo>();
  const ViewInfo* outer = view_info(source);
  state.view->base = outer ? outer->base : base;
  state.view->origin = outer && origin == ViewOrigin::kDefault ? outer->origin : origin;
  state.view->version = impl.version();
}

void become_view(const Tensor& tensor, const Tensor& view) {
  TensorImpl& impl = impl_of(tensor);
  const TensorImpl& wanted = impl_of(view);
  const NodePtr node = grad_fn_of(view);
  const uint32_t nr = node ? state_if_any(wanted)->output_nr : 0;
  impl.offset = wanted.offset;
  impl.set_geometry(wanted.sizes(), wanted.strides());
  impl.bump_version();
  if (const Tensor tangent = tangent_of(view); tangent.defined()) set_view_tangent(tensor, tangent);
  TensorState& state = state_of(impl);
  drop_accumulator(state);
  if (node)
    set_history(tensor, node, nr);
  else if (state.view)
    state.view->version = impl.version();
}

void rewrite_history(const Tensor& tensor, NodePtr node) {
  TensorImpl& impl = impl_of(tensor);
  TensorState& state = state_of(impl);
  if (!state.view) return set_history(tensor, std::move(node), 0);
  const Tensor base = state.view->base;
  const uint32_t version = impl.version();
  auto slices = NodePtr::adopt(new CopySlices(base, impl, std::move(node)));
  set_history(base, std::move(slices), 0);
  // The old version makes grad_fn_of derive the view's history from the base's.
  state.view->version = version - 1;
  if (!state.retained) state.grad_fn.reset();  // else move_retained still needs it
  impl.flags = (impl.flags & ~uint32_t(kRequiresGrad)) | kHasGradFn;
}

void check_not_inference_tensor(const Tensor& tensor) {
  HEARTH_CHECK(!impl_of(tensor).has(kInference) || (modes.flags & kInferenceMode),
               "Inplace update to inference tensor outside InferenceMode is not allowed.You can "
               "make a clone to get a normal tensor before doing inplace update.");
}

void check_inplace(const Tensor& tensor, bool will_require_grad) {
  const TensorImpl& impl = impl_of(tensor);
  check_not_inference_tensor(tensor);
  if (!modes.records()) return;
  if (const ViewInfo* view = view_info(impl)) {
    const bool matters =
        will_require_grad || requires_grad(impl) || requires_grad(impl_of(view->base));
    if (matters && view->origin != ViewOrigin::kDefault)
      refuse_view(*state_if_any(impl), "is being");
    const TensorImpl& base = impl_of(view->base);
    HEARTH_CHECK(
        !base.has(kRequiresGrad) && (base.has(kHasGradFn) || !requires_grad(impl)),
        "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  }
  HEARTH_CHECK(!impl.has(kRequiresGrad),
               "a leaf Variable that requires grad is being used in an in-place operation.");
}

}  // namespace hearth::autograd
