#include "ops/call.h"

#include <algorithm>

#include "autograd/state.h"
#include "core/backends.h"
#include "core/faults.h"
#include "core/numerics.h"
#include "core/observer.h"
#include "core/streams.h"
#include "hearth/autocast.h"
#include "ops/autocast.h"
#include "ops/binding.h"
#include "ops/history.h"
#include "ops/index_errors.h"
#include "ops/promote.h"

namespace hearth {

void detail::refuse_undefined(const char* op, int index, const char* argument) {
  fail<Error>(
      "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #", index,
      " '", argument, "' (in ", op, ")");
}

void detail::refuse_device(const char* op, const char* argument, Device expected, Device actual) {
  const Device host = expected.is_cpu() ? expected : actual;
  const Device other = expected.is_cpu() ? actual : expected;
  fail<Error>("Expected all tensors to be on the same device, but found at least two devices, ",
              other.str(), " and ", host.str(), "! (when checking argument for argument ", argument,
              " in method ", op, "; move it with .to(\"", expected.str(), "\"))");
}

namespace {

std::vector<const OpRecord*>& registry() {
  static auto& ops = *new std::vector<const OpRecord*>;  // never destroyed
  return ops;
}

/// The name of tensor number `index` of a call; outputs are numbered after the inputs.
const char* argument_name(const OpInfo& info, int index, int num_inputs) {
  static thread_local std::string name;
  if (index >= num_inputs) return "out";
  const std::string_view list = *info.arguments ? info.arguments : "self,other,tensor2,tensor3";
  size_t start = 0;
  for (int i = 0; i < index && start != std::string_view::npos; ++i) {
    start = list.find(',', start);
    if (start != std::string_view::npos) ++start;
  }
  if (start == std::string_view::npos) return "tensors";
  name = list.substr(start, list.find(',', start) - start);
  return name.c_str();
}

/// Returns the common device of an op's inputs and given outputs. Pointwise ops accept 0-d CPU
/// tensors besides tensors on any device.
Device device_of(const OpCall& call) {
  Device device(DeviceType::CPU);
  int decided_by = -1;
  bool only_numbers = true;  // whether all tensors so far are 0-d CPU tensors
  for (int i = 0; i < call.inputs.count + int(call.outputs.size()); ++i) {
    const Tensor& tensor =
        i < call.inputs.count ? call.inputs[i] : call.outputs[size_t(i - call.inputs.count)];
    if (!tensor.defined()) continue;
    const TensorImpl& impl = impl_of(tensor);
    const bool is_number =
        call.op.functor >= 0 && impl.dim == 0 && impl.device.is_cpu() && i < call.inputs.count;
    if (decided_by < 0 || (only_numbers && !is_number)) {
      device = impl.device;
      decided_by = i;
      only_numbers = is_number;
    } else if (!is_number && !(impl.device == device)) {
      detail::refuse_device(call.op.info->name, argument_name(*call.op.info, i, call.inputs.count),
                            device, impl.device);
    }
  }
  return device;
}

/// Throws unless tensor number `index`, which is undefined, is an optional input.
void check_optional(const OpCall& call, int index) {
  const OpInfo& info = *call.op.info;
  if (index < call.inputs.count && info.optional & in_slot(index)) return;
  const bool is_self = index >= call.inputs.count && call.binding == Binding::kInplace;
  detail::refuse_undefined(info.name, is_self ? 0 : index,
                           argument_name(info, is_self ? 0 : index, call.inputs.count));
}

/// Throws unless the view lies inside its storage.
void check_inside(const TensorImpl& view) {
  if (view.numel == 0 || !view.storage) return;
  check_inside_storage(view.sizes(), view.strides(), view.offset, element_size(view.dtype),
                       view.storage->nbytes);
}

Tensor make_view(const OpCall& call, const InferContext::Output& out) {
  const TensorImpl& source = impl_of(call.inputs[0]);
  Tensor view =
      new_tensor(out.dtype == ScalarType::Undefined ? source.dtype : out.dtype, source.device);
  TensorImpl& impl = impl_of(view);
  if (out.has_strides)
    impl.set_geometry(out.sizes, out.strides);
  else
    impl.set_sizes(out.sizes);
  impl.storage = source.storage;
  impl.offset = out.offset + (impl.dtype == source.dtype
                                  ? source.offset
                                  : source.offset * int64_t(element_size(source.dtype)) /
                                        int64_t(element_size(impl.dtype)));
  impl.flags |= source.flags & kInference;
  check_inside(impl);
  return view;
}

void make_views(OpCall& call, const InferContext& inferred) {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    call.outputs[i] = make_view(call, inferred.out(int(i)));
    link_view(call.outputs[i], call, int(i));
  }
}

void allocate_outputs(OpCall& call, const InferContext& inferred, Device device) {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const InferContext::Output& out = inferred.out(int(i));
    if (!out.defined) continue;
    const Device target = out.has_device ? out.device : device;
    if (out.late)
      call.outputs[i] = new_tensor(out.dtype, target);
    else if (out.has_strides)
      call.outputs[i] = allocate_strided(out.sizes, out.strides, out.dtype, target);
    else
      call.outputs[i] = allocate_tensor(out.sizes, out.dtype, target);
  }
}

/// Whether a launch can be left out: no output has elements, no input is written to, and the op
/// does not need the launch otherwise.
bool can_skip_launch(const OpCall& call, const Outputs& outputs) {
  for (const Tensor& output : outputs)
    if (output.defined() && impl_of(output).numel > 0) [[likely]]
      return false;
  const OpInfo& info = *call.op.info;
  return !call.op.mutates && !info.always_launches && info.effect != Effect::kDynamicShape;
}

void run_on(const OpCall& call, const Outputs& outputs, Device device, ScalarType compute_dtype) {
  if (device.is_meta() || can_skip_launch(call, outputs)) return;
  if (device.is_cpu()) {
    FaultSlot faults;
    Ctx ctx(cpu_backend(), device, nullptr, &faults);
    LaunchContext launch(call.inputs, outputs, ctx, compute_dtype);
    call.op.launch(call.op, call.args, launch);
    if (faults.fault > 0) [[unlikely]]
      throw_fault_of(call, faults);
    return;
  }
  Backend& backend = backend_of(device);
  const StreamHandle stream = current_stream(device);
  Ctx ctx(backend, device, stream, backend.fault_slot(device.index(), stream), current_numerics());
  LaunchContext launch(call.inputs, outputs, ctx, compute_dtype);
  call.op.launch(call.op, call.args, launch);
}

}  // namespace

bool register_op(const OpRecord& op) {
  registry().push_back(&op);
  return true;
}

const std::vector<const OpRecord*>& all_ops() { return registry(); }

void compute(OpCall& call) {
  const OpInfo& info = *call.op.info;
  Device device = info.mixes_devices ? impl_of(call.inputs[0]).device : device_of(call);
  InferContext inferred(call.inputs);
  const bool is_pointwise = call.op.functor >= 0;
  if (is_pointwise) inferred.compute_dtype = compute_type(info, call.inputs);
  if (!is_pointwise && inferred.has(0)) check_dtype(info, inferred.in(0).dtype);
  call.op.infer(call.op, call.args, inferred);
  call.outputs.resize(std::max(size_t(info.outputs), inferred.outputs()));
  if (call.inputs.count == 0 && inferred.out().has_device) device = inferred.out().device;
  HEARTH_CHECK_AS(NotImplementedError, info.effect != Effect::kDynamicShape || !device.is_meta(),
                  info.name,
                  "(): the result's shape depends on data, which meta tensors do not have");
  if (info.effect == Effect::kView) return make_views(call, inferred);
  if (call.binding == Binding::kNew) {
    if (is_pointwise) check_dtype(info, inferred.compute_dtype);
    allocate_outputs(call, inferred, device);
    run_on(call, call.outputs, device, inferred.compute_dtype);
  } else {
    BoundOutputs bound(call, inferred);
    run_on(call, bound.tensors(), device, inferred.compute_dtype);
    bound.finish();
  }
}

/// Returns the flags of a tensor that take a call off the plain path. A view also has a history if
/// its base got one after the view was made.
inline uint32_t reasons_of(const TensorImpl& impl) {
  if (impl.flags & kIsView && autograd::requires_grad(impl)) return kHasGradFn;
  return impl.flags & kLeavesPlainPath;
}

void run(OpCall& call) {
  // To leave the plain path; in a dual level, 1 stands for a possible tangent.
  uint32_t reasons = modes.flags | uint32_t(dual_level_is_active.load(std::memory_order_relaxed));
  for (int i = 0; i < call.inputs.count; ++i)
    if (call.inputs[i].defined()) [[likely]]
      reasons |= reasons_of(impl_of(call.inputs[i]));
    else
      check_optional(call, i);
  for (size_t i = 0; i < call.outputs.size(); ++i)
    if (call.outputs[i].defined()) [[likely]]
      reasons |= impl_of(call.outputs[i]).flags & (kLeavesPlainPath | kIsView);
    else
      check_optional(call, call.inputs.count + int(i));
  if (reasons == 0 && !call.op.mutates) [[likely]]
    compute(call);
  else
    compute_with_history(call);
}

struct ComposedCall::Instrumentation {
  std::optional<AutocastInputs> cast;
  std::optional<Observation> observation;
};

ComposedCall::ComposedCall(const OpRecord& op, const void* args, Inputs inputs)
    : scope_{op.info->name, modes.scope}, inputs_(inputs) {
  modes.scope = &scope_;
  if (!(modes.flags & (kAutocast | kObserved))) [[likely]]
    return;
  instrumentation_ = std::make_unique<Instrumentation>();
  if (modes.flags & kAutocast && (instrumentation_->cast = autocast_inputs(*op.info, inputs))) {
    inputs_ = instrumentation_->cast->inputs();
    autocast::set_autocast_enabled(instrumentation_->cast->device(), false);
  }
  if (modes.flags & kObserved)
    instrumentation_->observation.emplace(ObservedCall{op, args, inputs_, outputs_});
}

ComposedCall::~ComposedCall() = default;

Tensor ComposedCall::done(Tensor result) {
  outputs_.push_back(result);
  return result;
}

}  // namespace hearth
