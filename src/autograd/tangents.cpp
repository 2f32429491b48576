#include "autograd/tangents.h"

#include <mutex>
#include <unordered_set>

#include "autograd/state.h"
#include "hearth/autograd/forward_ad.h"
#include "hearth/operators.h"

namespace hearth {

namespace autograd {
namespace {

/// The tensors that have tangents in the level of forward-mode AD, if it is active. The mutex also
/// guards their tangents.
struct Level {
  std::mutex mutex;
  std::unordered_set<TensorState*> duals;
};

Level& the_level() {
  static auto& level = *new Level;  // never destroyed: static tensors may have tangents
  return level;
}

void check_level(int64_t level) {
  HEARTH_CHECK(level == 0 && dual_level_is_active,
               "Trying to access a forward AD level with an invalid index. This index was either "
               "not created or is already deleted.");
}

bool has_strides_of(const TensorImpl& tangent, const TensorImpl& tensor) {
  for (int i = 0; i < tensor.dim; ++i)
    if (tensor.sizes()[size_t(i)] > 1 &&
        tangent.strides()[size_t(i)] != tensor.strides()[size_t(i)])
      return false;
  return true;
}

/// Zeros with the strides of a tensor, also between its elements.
Tensor zeros_in_layout(const Tensor& tensor, const TensorOptions& options) {
  const TensorImpl& impl = impl_of(tensor);
  if (impl.has(kDense))
    return zeros({impl.numel}, options).as_strided(impl.sizes(), impl.strides(), 0);
  const auto elements = int64_t(impl.storage->nbytes / element_size(impl.dtype));
  return zeros({elements}, options).as_strided(impl.sizes(), impl.strides(), impl.offset);
}

/// The tensor's own tangent; undefined if it has none.
Tensor own_tangent(const TensorImpl& impl) {
  const TensorState* state = state_if_any(impl);
  if (!state || !state->is_dual.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(the_level().mutex);
  return state->tangent;
}

/// The part of the base's tangent that belongs to a view.
Tensor part_of(const Tensor& base_tangent, const TensorImpl& base, const TensorImpl& view) {
  const ScalarType type = base_tangent.scalar_type();
  const bool keeps_type = is_complex(view.dtype) == is_complex(base.dtype);
  const int64_t bytes = impl_of(base_tangent).offset * int64_t(element_size(base.dtype));
  const auto itemsize = int64_t(element_size(view.dtype));
  HEARTH_CHECK(bytes % itemsize == 0,
               "The tangent of the base of a complex view starts at an odd "
               "element of its memory; clone() it");
  return view_of_base(base_tangent,
                      keeps_type               ? type
                      : is_complex(view.dtype) ? to_complex(type)
                                               : to_real(type),
                      view.sizes(), view.strides(), offset_from(view, base) + bytes / itemsize);
}

}  // namespace

Tensor tangent_of(const Tensor& tensor) {
  const TensorImpl& impl = impl_of(tensor);
  if (Tensor own = own_tangent(impl); own.defined()) return own;
  const ViewInfo* view = view_info(impl);
  if (!view) return {};
  const Tensor base_tangent = own_tangent(impl_of(view->base));
  if (!base_tangent.defined()) return {};
  const AutoFwGradMode off(false);
  const Tensor tangent = part_of(base_tangent, impl_of(view->base), impl);
  set_view_tangent(tensor, tangent);
  return tangent;
}

void set_view_tangent(const Tensor& view, Tensor tangent) {
  TensorState& state = state_of(impl_of(view));
  Level& level = the_level();
  const std::lock_guard lock(level.mutex);
  if (!dual_level_is_active) return;
  level.duals.insert(&state);
  std::swap(state.tangent, tangent);  // the former one is destroyed after the lock is released
  state.is_dual.store(true, std::memory_order_release);
}

void set_tangent(const Tensor& tensor, const Tensor& tangent) {
  const TensorImpl& impl = impl_of(tensor);
  HEARTH_CHECK(tangent.sizes().equals(impl.sizes()),
               "Trying to set a forward gradient that has a different size than that of the "
               "original Tensor, this is not supported. Tensor is of size ",
               impl.sizes(), " while the given forward gradient is of size ", tangent.sizes(), ".");
  HEARTH_CHECK(!tangent_of(tangent).defined(),
               "Setting a forward grad that itself has a forward gradient at the same level0 is "
               "not supported.");
  if (has_strides_of(impl_of(tangent), impl)) return set_view_tangent(tensor, tangent);
  const AutoFwGradMode off(false);
  set_view_tangent(tensor, zeros_in_layout(tensor, tangent.options()).copy_(tangent));
}

void update_tangent(const Tensor& tensor, const Tensor& tangent) {
  Tensor old = tangent_of(tensor);
  const ViewInfo* view = view_info(impl_of(tensor));
  if (!old.defined() && !tangent.defined()) return;
  if (!old.defined() && !view) return set_tangent(tensor, tangent);
  if (!old.defined()) {
    set_tangent(view->base, zeros_like(view->base.detach()));
    old = tangent_of(tensor);
  }
  if (tangent.defined())
    old.copy_(tangent);
  else
    old.zero_();
}

void drop_tangent(TensorState& state) {
  if (!state.is_dual.load(std::memory_order_acquire)) return;
  Tensor removed;  // destroyed after the lock is released
  const std::lock_guard lock(the_level().mutex);
  the_level().duals.erase(&state);
  std::swap(removed, state.tangent);
  state.is_dual.store(false, std::memory_order_release);
}

void forget_tangent(TensorState& state) {
  const std::lock_guard lock(the_level().mutex);
  the_level().duals.erase(&state);
}

void refuse_tangent(const Tensor& tensor, const char* method) {
  HEARTH_CHECK_AS(NotImplementedError, !tensor.defined() || !tangent_of(tensor).defined(),
                  "Trying to use forward AD with ", method,
                  " that does not support it because it has not been implemented yet.");
}

namespace forward_ad {

uint64_t enter_dual_level() {
  const std::lock_guard lock(the_level().mutex);
  HEARTH_CHECK(!dual_level_is_active, "Nested forward mode AD is not supported at the moment");
  dual_level_is_active = true;
  return 0;
}

void exit_dual_level(uint64_t number) {
  std::vector<Tensor> removed;  // destroyed after the lock is released
  Level& level = the_level();
  const std::lock_guard lock(level.mutex);
  HEARTH_CHECK(number == 0 && dual_level_is_active,
               "Exiting a forward AD level that is not the last that was created is not support. "
               "Ensure they are released in the reverse order they were created.");
  dual_level_is_active = false;
  for (TensorState* const state : level.duals) {
    removed.push_back(std::move(state->tangent));
    // The last access: the tensor may be destroyed after it.
    state->is_dual.store(false, std::memory_order_release);
  }
  level.duals.clear();
}

namespace {

/// Throws Python's error unless the dtype can have tangents.
void check_real_or_complex(const char* role, const Tensor& tensor) {
  HEARTH_CHECK_AS(ValueError, tensor.defined() && is_differentiable(tensor.scalar_type()),
                  "Expected ", role, " to be floating point or complex, but got: ",
                  tensor.defined() ? "torch." : "an undefined tensor",
                  tensor.defined() ? python_name_of(tensor.scalar_type()) : "");
}

}  // namespace

Tensor make_dual(const Tensor& tensor, const Tensor& tangent, std::optional<int64_t> level) {
  HEARTH_CHECK(level || dual_level_is_active,
               "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
               "enter_dual_level() first.");
  check_real_or_complex("primal", tensor);
  check_real_or_complex("tangent", tangent);
  return _make_dual(tensor, tangent, level.value_or(0));
}

UnpackedDualTensor unpack_dual(const Tensor& tensor, std::optional<int64_t> level) {
  if (!level && !dual_level_is_active) return {tensor, Tensor()};
  auto [primal, tangent] = _unpack_dual(tensor, level.value_or(0));
  return {primal, tangent};
}

}  // namespace forward_ad
}  // namespace autograd

AutoFwGradMode::AutoFwGradMode(bool enabled) : previous_(modes.forward_grad_enabled) {
  modes.forward_grad_enabled = enabled;
}
AutoFwGradMode::~AutoFwGradMode() { modes.forward_grad_enabled = previous_; }

Tensor _make_dual(const Tensor& primal, const Tensor& tangent, int64_t level) {
  HEARTH_CHECK(primal.defined() && tangent.defined(),
               "_make_dual(): expected two tensors, but one of them is undefined");
  autograd::check_level(level);
  HEARTH_CHECK(!primal._fw_grad(uint64_t(level)).defined(),
               "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
               "same level ",
               level, " is not supported.");
  const AutoFwGradMode off(false);
  const Tensor dual = primal.alias();
  if (!(modes.flags & kInferenceMode)) autograd::set_tangent(dual, tangent);
  return dual;
}

std::tuple<Tensor, Tensor> _unpack_dual(const Tensor& dual, int64_t level) {
  return {dual._fw_primal(level), dual._fw_grad(uint64_t(level))};
}

Tensor Tensor::_fw_grad(uint64_t level) const {
  HEARTH_CHECK(defined(), "cannot call _fw_grad() on undefined tensor");
  return level == 0 ? autograd::tangent_of(*this) : Tensor();
}

Tensor Tensor::_fw_primal(int64_t) const {
  HEARTH_CHECK(defined(), "cannot call _fw_primal() on undefined tensor");
  // Not a view of a tensor that has a tangent, which the view would have, too.
  const Tensor primal = shallow_alias(*this, true);
  if (const autograd::Edge edge = autograd::gradient_edge(*this); edge.is_valid())
    autograd::set_history(primal, edge.function, edge.input_nr);
  return primal;
}

}  // namespace hearth
