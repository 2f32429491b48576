#include "hearth/utils/checkpoint.h"

#include "autograd/checkpoint_frame.h"
#include "core/ivalue_variant.h"
#include "hearth/autograd_hooks.h"

namespace hearth::utils {

CheckpointError::CheckpointError(std::string message) : hearth::Error(std::move(message)) {}
CheckpointError::CheckpointError(SourceLocation where, std::string message)
    : hearth::Error(where, std::move(message)) {}
CheckpointError::~CheckpointError() = default;

namespace {

// If set, these replace the options of the same names.
thread_local std::optional<bool> early_stop;
thread_local std::optional<bool> debug;

}  // namespace

set_checkpoint_early_stop::set_checkpoint_early_stop(bool enable) : former_(early_stop) {
  early_stop = enable;
}
set_checkpoint_early_stop::~set_checkpoint_early_stop() { early_stop = former_; }

set_checkpoint_debug_enabled::set_checkpoint_debug_enabled(bool enabled) : former_(debug) {
  debug = enabled;
}
set_checkpoint_debug_enabled::~set_checkpoint_debug_enabled() { debug = former_; }

namespace detail {

/// In effect while the function runs in forward: saved tensors are noted, some results are kept.
struct CheckpointRegion::Guards {
  explicit Guards(const std::shared_ptr<CheckpointFrame>& new_frame)
      : frame(new_frame),
        hooks([new_frame](const Tensor& tensor) { return new_frame->note(tensor); },
              [new_frame](const std::any& noted) { return new_frame->value_of(noted); }),
        reuse(new_frame->kept_results()) {}
  std::shared_ptr<CheckpointFrame> frame;
  autograd::SavedTensorHooks hooks;
  OpReuseGuard reuse;
};

CheckpointRegion::CheckpointRegion(const CheckpointOptions& options,
                                   const std::vector<Tensor>& inputs, Function function)
    : guards_(new Guards(std::make_shared<CheckpointFrame>(
          CheckpointOptions(options)
              .early_stop(early_stop.value_or(options.early_stop()))
              .debug(debug.value_or(options.debug())),
          inputs, std::move(function)))) {}
CheckpointRegion::~CheckpointRegion() = default;

void CheckpointRegion::completed() { guards_->frame->forward_completed(); }

namespace {

using hearth::detail::DictPtr;
using hearth::detail::ListKind;
using hearth::detail::ListPtr;

std::vector<IValue> visited(std::vector<IValue> parts, const std::function<void(Tensor&)>& visit) {
  for (IValue& part : parts) visit_ivalue(part, visit);
  return parts;
}

/// A copy of the list with the same kind.
GenericList visited(const GenericList& list, ListKind kind,
                    const std::function<void(Tensor&)>& visit) {
  const GenericList copy = list.copy();
  if (hearth::detail::may_hold_tensors(kind))
    for (IValue& part : copy) visit_ivalue(part, visit);
  return copy;
}

GenericDict visited(const GenericDict& dict, const std::function<void(Tensor&)>& visit) {
  const GenericDict copy = dict.copy();
  for (const auto& item : copy) {
    IValue part = item.value();
    visit_ivalue(part, visit);
    item.setValue(part);
  }
  return copy;
}

}  // namespace

void visit_ivalue(IValue& value, const std::function<void(Tensor&)>& visit) {
  hearth::detail::visit_content(
      IValue(value),
      [&](Tensor tensor) {
        visit(tensor);
        value = std::move(tensor);
      },
      [&](const ListPtr& list) { value = visited(value.toList(), list->kind, visit); },
      [&](const DictPtr&) { value = visited(value.toGenericDict(), visit); },
      [&](const hearth::detail::TuplePtr& tuple) {
        value = ivalue::Tuple::create(visited(tuple->elements(), visit));
      },
      [](std::monostate) {}, [](bool) {}, [](int64_t) {}, [](double) {}, [](const std::string&) {},
      [](Device) {}, [](const Generator&) {}, [](complex<double>) {});
}

size_t layers_of_segment(size_t layers, int64_t segments) {
  HEARTH_CHECK_AS(ValueError, segments >= 1 && static_cast<size_t>(segments) <= layers,
                  "checkpoint_sequential: expected segments between 1 and the number of layers (",
                  layers, "), but got ", segments);
  return layers / static_cast<size_t>(segments);
}

}  // namespace detail
}  // namespace hearth::utils
