#include "autograd/node.h"

#include <algorithm>
#include <atomic>
#include <ostream>
#include <typeinfo>

#include "autograd/anomaly.h"
#include "autograd/engine.h"
#include "core/modes.h"
#include "core/sequence_nr.h"
#include "hearth/libtorch_name.h"
#include "hearth/memory_stats.h"

namespace hearth::autograd {

Node::Node() : sequence_nr_(next_sequence_nr++) {}
Node::Node(edge_list&& next_edges) : Node() { next_edges_ = std::move(next_edges); }
Node::Node(uint64_t sequence_nr, edge_list&& next_edges)
    : next_edges_(std::move(next_edges)), sequence_nr_(sequence_nr) {}
Node::~Node() { delete state_.load(std::memory_order_relaxed); }

std::string Node::name() const { return libtorch_name(typeid(*this)); }

std::string Node::forward_op_name() const {
  static constexpr std::string_view kSuffix = "Backward";
  const std::string whole = name();
  const size_t suffix = whole.rfind(kSuffix);
  if (suffix == std::string::npos) return whole;
  const std::string number = whole.substr(suffix + kSuffix.size());
  if (number.find_first_not_of("0123456789") != std::string::npos) return whole;
  return whole.substr(0, suffix) + (number == "0" ? "" : number);
}

namespace {

bool any_of(std::initializer_list<IndexRange> ranges, const auto& holds) {
  for (const auto& [first, last] : ranges)
    for (size_t i = first; i < last; ++i)
      if (holds(i)) return true;
  return false;
}

}  // namespace

bool Node::should_compute_output(std::initializer_list<IndexRange> ranges) const {
  return any_of(ranges, [this](size_t i) { return should_compute_output(i); });
}
bool Node::task_should_compute_output(size_t i) const {
  HEARTH_CHECK(i < num_outputs(), "Index out of range");
  return wants_gradient(*this, i);
}
bool Node::task_should_compute_output(std::initializer_list<IndexRange> ranges) const {
  return any_of(ranges, [this](size_t i) { return task_should_compute_output(i); });
}

InputMetadata::InputMetadata(const Tensor& output) {
  if (!output.defined()) return;
  const TensorImpl& impl = impl_of(output);
  sizes_ = Dims(impl.sizes());
  dtype_ = impl.dtype;
  device_ = impl.device;
  if (device_.is_cuda()) stream_ = modes.streams[device_.index()];
}

bool InputMetadata::is_same_shape(const Tensor& gradient) const {
  return gradient.sizes().equals(sizes_);
}
bool InputMetadata::is_expandable_to_shape(const Tensor& gradient) const {
  return sums_to(gradient.sizes(), sizes_);
}
Tensor InputMetadata::zeros_like() const {
  return was_default_constructed() ? Tensor() : zeros(sizes_, options());
}

uint32_t Node::add_input_metadata(const Tensor& output) {
  inputs_.emplace_back(output);
  return static_cast<uint32_t>(inputs_.size() - 1);
}
uint32_t Node::add_input_metadata(undefined_input) { return add_input_metadata(Tensor()); }

Device Node::device() const {
  for (const InputMetadata& metadata : inputs_)
    if (!metadata.device().is_cpu()) return metadata.device();
  return DeviceType::CPU;
}

std::ostream& operator<<(std::ostream& stream, const NodePtr& node) {
  return stream << static_cast<const void*>(node.get());
}

variable_list Node::operator()(variable_list&& grads) {
  NodeAccess::check_gradients(*this, grads);
  grads.resize(std::max(grads.size(), num_inputs()));  // missing ones are undefined
  return NodeAccess::call(*this, std::move(grads));
}

namespace {

/// Throws unless the gradient that hook number `hook` returned has the original's metadata.
void check_replaced(size_t hook, const Tensor& grad, IntArrayRef sizes, ScalarType dtype,
                    Device device) {
  const bool same_type = grad.scalar_type() == dtype && grad.device().type() == device.type();
  HEARTH_CHECK(same_type, "hook '", hook, "' has changed the type of value (was ",
               name_of(device.type()), name_of(dtype), "Type got ", grad.toString(), ")");
  HEARTH_CHECK(grad.device() == device, "hook '", hook, "' has changed the location of value");
  HEARTH_CHECK(grad.sizes().equals(sizes), "hook '", hook, "' has changed the size of value");
}

void run_pre_hook(const Node& node, size_t number, const Node::PreHook& hook,
                  variable_list& grads) {
  variable_list replaced = hook(grads);
  HEARTH_CHECK(replaced.size() == grads.size(), "hook '", number,
               "' has returned an incorrect number of values (got ", replaced.size(),
               ", but expected ", grads.size(), ")");
  for (size_t i = 0; i < replaced.size() && i < node.num_inputs(); ++i) {
    const InputMetadata& wanted = node.input_metadata(i);
    if (replaced[i].defined() && !wanted.was_default_constructed())
      check_replaced(number, replaced[i], wanted.sizes(), wanted.scalar_type(), wanted.device());
  }
  grads = std::move(replaced);
}

}  // namespace

variable_list NodeAccess::call(Node& node, variable_list&& grads) {
  NodeState* state = state_if_any(node);
  if (!state) [[likely]]
    return node.apply(std::move(grads));
  run_tensor_hooks(node, grads);
  const auto before = snapshot(*state, &NodeState::pre_hooks);
  for (size_t i = 0; i < before.size(); ++i) run_pre_hook(node, i, before[i], grads);
  const auto after = snapshot(*state, &NodeState::post_hooks);
  if (after.empty()) return node.apply(std::move(grads));
  const variable_list inputs = grads;
  variable_list outputs = node.apply(std::move(grads));
  for (const Node::PostHook& hook : after) outputs = hook(outputs, inputs);
  return outputs;
}

void NodeAccess::check_gradients(const Node& node, const variable_list& grads) {
  if (node.num_inputs() == 0) return;  // created by the user, for tensors of any metadata
  HEARTH_CHECK(grads.size() <= node.num_inputs(), "Function ", node.name(),
               " got an incorrect number of gradients (expected ", node.num_inputs(), ", got ",
               grads.size(), ")");
  for (size_t i = 0; i < grads.size(); ++i) {
    const InputMetadata& wanted = node.input_metadata(i);
    if (!grads[i].defined() || wanted.was_default_constructed()) continue;
    const auto check = [&](bool fits, const auto& got, const auto& expected, const char* property) {
      HEARTH_CHECK(fits, "Function ", node.name(), " got an invalid gradient at index ", i,
                   " - got ", got, " but expected ", property, expected);
    };
    const ScalarType dtype = grads[i].scalar_type();
    check(wanted.is_same_shape(grads[i]), grads[i].sizes(), wanted.sizes(), "shape ");
    check(dtype == wanted.scalar_type(), dtype, wanted.scalar_type(), "dtype ");
    check(grads[i].device() == wanted.device(), grads[i].device(), wanted.device(), "device ");
  }
}

void check_input_number(const Edge& edge) {
  HEARTH_CHECK(edge.input_nr < edge.function->num_inputs(), "Function ", edge.function->name(),
               " takes ", edge.function->num_inputs(),
               " gradients, so an edge cannot lead to number ", edge.input_nr);
}

NodeState& NodeAccess::state(Node& node) {
  if (NodeState* state = state_if_any(node)) return *state;
  auto created = std::make_unique<NodeState>();
  NodeState* other = nullptr;
  // Another thread may be creating one too.
  if (node.state_.compare_exchange_strong(other, created.get(), std::memory_order_acq_rel))
    return *created.release();
  return *other;
}

void run_hooks(TensorHooks& hooks, Tensor& grad) {
  std::vector<TensorHook> snapshot;
  {
    const std::lock_guard lock(hooks.mutex);
    snapshot = hooks.hooks;
  }
  for (const auto& [id, hook] : snapshot) {
    if (!hook) continue;
    Tensor replaced = (*hook)(grad);
    if (!replaced.defined()) continue;
    if (grad.defined())
      check_replaced(id, replaced, grad.sizes(), grad.scalar_type(), grad.device());
    grad = std::move(replaced);
  }
}

void NodeAccess::run_tensor_hooks(Node& node, variable_list& grads) {
  NodeState* state = state_if_any(node);
  if (!state) return;
  for (const NodeState::HookedTensor& entry : snapshot(*state, &NodeState::tensor_hooks))
    if (entry.input_nr < grads.size() && grads[entry.input_nr].defined())
      run_hooks(*entry.hooks, grads[entry.input_nr]);
  for (const NodeState::Retained& entry : snapshot(*state, &NodeState::retained)) {
    if (entry.input_nr >= grads.size() || !grads[entry.input_nr].defined()) continue;
    const std::lock_guard lock(entry.grad->mutex);
    if (!entry.grad->owner) continue;
    Tensor& kept = entry.grad->owner->grad;
    const Tensor& grad = grads[entry.input_nr];
    kept = kept.defined() ? kept.add(grad) : grad.clone();
  }
}

void NodeAccess::run_capture_hooks(Node& node, variable_list& grads) {
  run_tensor_hooks(node, grads);
  if (auto* leaf = dynamic_cast<AccumulateGrad*>(&node); leaf && grads[0].defined())
    leaf->run_leaf_hooks(grads[0]);
}

AccumulateGrad::AccumulateGrad(Tensor leaf) : variable(std::move(leaf)) {
  set_sequence_nr(UINT64_MAX);  // frees its gradient as early as possible
  add_input_metadata(variable);
}

AccumulateGrad::~AccumulateGrad() {
  TensorState* state = state_if_any(impl_of(variable));
  if (!state) return;
  const std::lock_guard lock(state->mutex);
  if (state->accumulator == this) state->accumulator = nullptr;
}

namespace {

/// Returns one of the leaf's lists of hooks; another thread may be creating it.
template <class Hooks>
std::shared_ptr<Hooks> hooks_of(const Tensor& leaf, std::shared_ptr<Hooks> TensorState::*list) {
  TensorState* state = state_if_any(impl_of(leaf));
  if (!state) return nullptr;
  const std::lock_guard lock(state->mutex);
  return state->*list;
}

}  // namespace

void AccumulateGrad::run_leaf_hooks(Tensor& grad) {
  if (const auto hooks = hooks_of(variable, &TensorState::hooks)) run_hooks(*hooks, grad);
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  if (grads.empty() || !grads[0].defined()) return {};
  run_leaf_hooks(grads[0]);
  const std::lock_guard lock(mutex_);
  accumulate(std::move(grads[0]));
  if (const auto after = hooks_of(variable, &TensorState::after_accumulate)) after->run(variable);
  return {};
}

namespace {

/// Whether the gradient has the leaf's strides or, if the leaf is not dense, is contiguous.
bool has_layout_of(const TensorImpl& grad, const TensorImpl& leaf) {
  if (!leaf.has(kDense)) return grad.contiguous();
  for (int d = 0; d < leaf.dim && grad.numel > 1; ++d)
    if (leaf.sizes_data()[d] != 1 && grad.strides_data()[d] != leaf.strides_data()[d]) return false;
  return true;
}

/// Copies the gradient; the copy has the layout that has_layout_of() requires.
Tensor copy_with_layout_of(const Tensor& grad, const TensorImpl& leaf) {
  if (!leaf.has(kDense) || !grad.sizes().equals(leaf.sizes()))
    return grad.clone(MemoryFormat::Contiguous);
  const Tensor copy = empty_strided(leaf.sizes(), leaf.strides(), grad.options());
  return copy.copy_(grad);
}

}  // namespace

void AccumulateGrad::accumulate(Tensor grad) {
  Tensor& sum = state_of(impl_of(variable)).grad;
  if (!sum.defined()) {
    const TensorImpl& leaf = impl_of(variable);
    if (!modes.grad_enabled && is_unshared(grad) && has_layout_of(impl_of(grad), leaf))
      sum = grad.detach();
    else
      sum = copy_with_layout_of(grad, leaf);
    set_memory_tag(sum, MemoryTag::Gradient);
  } else if (!modes.grad_enabled) {
    sum.add_(grad);
  } else {
    sum = sum.add(grad);
  }
}

CopySlices::CopySlices(const Tensor& base, const TensorImpl& view, NodePtr fn)
    : sizes_(base.sizes()),
      strides_(base.strides()),
      view_sizes_(view.sizes()),
      view_strides_(view.strides()),
      view_dtype_(view.dtype),
      view_offset_(offset_from(view, impl_of(base))),
      shift_(base.is_complex() || !is_complex(view.dtype) ? 0 : impl_of(base).offset % 2),
      fn_(std::move(fn)) {
  add_input_metadata(base);
  add_next_edge(gradient_edge(base));
  const edge_list& edges = fn_->next_edges();
  for (size_t i = 1; i < edges.size(); ++i) add_next_edge(edges[i]);
  copy_forward(*fn_, *this);
}

Tensor CopySlices::empty_base(const TensorOptions& options) const {
  if (shift_ == 0) return empty_strided(sizes_, strides_, options);
  int64_t last = shift_;
  for (size_t d = 0; d < sizes_.size(); ++d) last += (sizes_[d] - 1) * strides_[d];
  return hearth::empty({last + 1}, options).as_strided(sizes_, strides_, shift_);
}

variable_list CopySlices::apply(variable_list&& grads) {
  variable_list results(num_outputs());
  if (!grads[0].defined()) return results;
  // The gradient of the base, in which the result of fn replaces the written part.
  Tensor base_grad = empty_base(TensorOptions(grads[0].scalar_type()).device(grads[0].device()));
  base_grad.copy_(grads[0]);
  const Tensor part =
      view_of_base(base_grad, view_dtype_, view_sizes_, view_strides_, view_offset_);
  variable_list fn_grads = NodeAccess::call(*fn_, {part.clone()});
  if (!fn_grads.empty() && fn_grads[0].defined())
    part.copy_(fn_grads[0]);
  else
    part.zero_();
  results[0] = std::move(base_grad);
  for (size_t i = 1; i < results.size() && i < fn_grads.size(); ++i)
    if (should_compute_output(i)) results[i] = std::move(fn_grads[i]);
  return results;
}

}  // namespace hearth::autograd
