#include "autograd/tangents.h"

#include <mutex>
#include <unordered_map>

#include "autograd/state.h"
#include "hearth/autograd/forward_ad.h"
#include "hearth/operators.h"

namespace hearth {

namespace autograd {
namespace {

/// The level of forward-mode AD, and the tensors that have tangents in it.
struct Level {
  std::mutex mutex;
  bool is_active = false;
  std::unordered_map<TensorState*, TensorImpl*> duals;
};

Level& the_level() {
  static auto& level = *new Level;  // never destroyed: static tensors may have tangents
  return level;
}

bool is_active(int64_t level) {
  const std::lock_guard lock(the_level().mutex);
  return level == 0 && the_level().is_active;
}

void check_level(int64_t level) {
  HEARTH_CHECK(is_active(level),
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

}  // namespace

Tensor tangent_of(const Tensor& tensor) {
  const TensorImpl& impl = impl_of(tensor);
  const TensorState* state = state_if_any(impl);
  if (!state || state->tangent.defined()) return state ? state->tangent : Tensor();
  const ViewInfo* view = view_info(impl);
  if (!view) return {};
  const TensorState* base_state = state_if_any(impl_of(view->base));
  if (!base_state || !base_state->tangent.defined()) return {};
  const Tensor& base_tangent = base_state->tangent;
  const int64_t offset = impl.offset - impl_of(view->base).offset + impl_of(base_tangent).offset;
  const AutoFwGradMode off(false);
  const Tensor tangent =
      view_of_base(base_tangent, impl.dtype, impl.sizes(), impl.strides(), offset);
  set_view_tangent(tensor, tangent);
  return tangent;
}

void set_view_tangent(const Tensor& view, const Tensor& tangent) {
  TensorImpl& impl = impl_of(view);
  TensorState& state = state_of(impl);
  Level& level = the_level();
  const std::lock_guard lock(level.mutex);
  if (!level.is_active) return;
  state.tangent = tangent;
  impl.flags |= kHasTangent;
  level.duals[&state] = &impl;
}

void set_tangent(const Tensor& tensor, const Tensor& tangent) {
  const TensorImpl& impl = impl_of(tensor);
  HEARTH_CHECK(tangent.sizes().equals(impl.sizes()),
               "Trying to set a forward gradient that has a different size than that of the "
               "original Tensor, this is not supported. Tensor is of size ",
               impl.sizes(), " while the given forward gradient is of size ", tangent.sizes(), ".");
  if (has_strides_of(impl_of(tangent), impl)) return set_view_tangent(tensor, tangent);
  const Tensor copy = empty_strided(impl.sizes(), impl.strides(), tangent.options());
  set_view_tangent(tensor, copy.copy_(tangent));
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

void forget_tangent(TensorState& state) {
  const std::lock_guard lock(the_level().mutex);
  the_level().duals.erase(&state);
}

namespace forward_ad {

uint64_t enter_dual_level() {
  Level& level = the_level();
  const std::lock_guard lock(level.mutex);
  HEARTH_CHECK(!level.is_active, "Nested forward mode AD is not supported at the moment");
  level.is_active = true;
  modes.flags |= kDualLevel;
  return 0;
}

void exit_dual_level(uint64_t number) {
  Level& level = the_level();
  std::vector<Tensor> removed;  // destroyed after the lock is released
  {
    const std::lock_guard lock(level.mutex);
    HEARTH_CHECK(number == 0 && level.is_active,
                 "Exiting a forward AD level that is not the last that was created is not "
                 "support. Ensure they are released in the reverse order they were created.");
    for (const auto& [state, impl] : level.duals) {
      removed.push_back(std::move(state->tangent));
      impl->flags &= ~uint32_t(kHasTangent);
    }
    level.duals.clear();
    level.is_active = false;
  }
  modes.flags &= ~uint32_t(kDualLevel);
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
  HEARTH_CHECK(level || is_active(0),
               "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
               "enter_dual_level() first.");
  check_real_or_complex("primal", tensor);
  check_real_or_complex("tangent", tangent);
  return _make_dual(tensor, tangent, level.value_or(0));
}

UnpackedDualTensor unpack_dual(const Tensor& tensor, std::optional<int64_t> level) {
  if (!level && !is_active(0)) return {tensor, Tensor()};
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
