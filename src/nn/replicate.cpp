#include "nn/replicate.h"

#include <algorithm>

#include "hearth/custom_function.h"
#include "hearth/nn/data_parallel.h"
#include "hearth/operators.h"
#include "hearth/thread_state.h"
#include "nn/coalesced_copy.h"
#include "nn/error_context.h"
#include "nn/lazy.h"

namespace hearth::nn::parallel::detail {

namespace {

using autograd::variable_list;

/// The history of all copies of a module's trained tensors: its backward sums the gradients of each
/// tensor's copies on the tensor's device.
class BroadcastNode final : public autograd::CustomNode {
 public:
  explicit BroadcastNode(const variable_list& originals) {
    for (const Tensor& original : originals) devices_.push_back(original.device());
    context().set_materialize_grads(false);
    add_argument(originals);
    connect();
  }
  std::string name() const override { return "torch::nn::parallel::Broadcast"; }

 protected:
  variable_list call_backward(autograd::AutogradContext*, variable_list gradients) override {
    const size_t count = devices_.size();
    variable_list sums(count);
    for (size_t first = 0; first < gradients.size(); first += count) {
      const auto begin = gradients.begin() + static_cast<std::ptrdiff_t>(first);
      const variable_list part(begin, begin + static_cast<std::ptrdiff_t>(count));
      add(sums, part);
    }
    return sums;
  }

 private:
  /// Adds the gradients of one copy of the module.
  void add(variable_list& sums, const variable_list& gradients) const {
    const CoalescedCopy packed(gradients);
    const variable_list moved = packed.to(devices_[0]);
    for (size_t i = 0; i < sums.size(); ++i) {
      if (!moved[i].defined()) continue;
      const Tensor gradient = moved[i].to(TensorOptions().device(devices_[i]));
      sums[i] = sums[i].defined() ? sums[i] + gradient : gradient;
    }
  }

  std::vector<Device> devices_;
};

std::vector<Tensor> trained_tensors(const Module& module) {
  std::vector<Tensor> tensors = module.parameters();
  for (const Tensor& buffer : module.buffers())
    if (buffer.requires_grad()) tensors.push_back(buffer);
  return tensors;
}

/// The tensors of the copy with the names of trained_tensors(module).
std::vector<Tensor> copies_of_trained(const Module& module, const Module& copy) {
  std::vector<Tensor> tensors;
  const auto parameters = copy.named_parameters(), buffers = copy.named_buffers();
  for (const auto& item : module.named_parameters()) tensors.push_back(parameters[item.key()]);
  for (const auto& item : module.named_buffers())
    if (item->requires_grad()) tensors.push_back(buffers[item.key()]);
  return tensors;
}

/// Throws if parameters have no sizes yet, e.g. in a LazyLinear before its first call: each copy
/// would draw values of its own.
void check_initialized(const Module& module) {
  module.apply([](const Module& part) {
    HEARTH_CHECK(!nn::detail::is_lazy(part),
                 "Modules with uninitialized parameters can't be used with `DataParallel`. Run a "
                 "dummy forward pass to correctly initialize the modules");
  });
}

}  // namespace

std::shared_ptr<Module> clone_on(const Module& module, Device device) {
  check_initialized(module);
  const GeneratorGuard own_numbers(make_generator());
  try {
    return module.clone(device);
  } catch (...) {
    nn::detail::rethrow_with_context(
        hearth::detail::str("while copying ", module.name(), " to ", device));
  }
}

void copy_values(const variable_list& originals, const std::vector<variable_list>& copies) {
  if (originals.empty() || copies.empty()) return;
  const NoGradGuard no_grad;
  variable_list values;
  values.reserve(originals.size());
  for (const Tensor& original : originals) values.push_back(original.detach());
  const CoalescedCopy packed(values);
  for (const variable_list& list : copies) {
    const variable_list moved = packed.to(list[0].device());
    for (size_t i = 0; i < list.size(); ++i) {
      // Memory that is shared with the original must not change with the copy.
      const bool is_shared = moved[i].data_ptr() == values[i].data_ptr();
      list[i].set_data(is_shared ? moved[i].clone() : moved[i]);
    }
  }
}

void link_copies(const variable_list& originals, const std::vector<variable_list>& copies,
                 bool copies_data) {
  if (originals.empty() || copies.empty()) return;
  const auto node = IntrusivePtr<BroadcastNode>::adopt(new BroadcastNode(originals));
  if (copies_data) copy_values(originals, copies);
  variable_list outputs, frozen;
  for (const variable_list& list : copies)
    for (size_t i = 0; i < list.size(); ++i) {
      outputs.push_back(list[i]);
      if (!originals[i].requires_grad()) frozen.push_back(list[i]);
    }
  node->context().mark_non_differentiable(frozen);
  node->finish(outputs);
}

std::vector<std::shared_ptr<Module>> replicate(const std::shared_ptr<Module>& module,
                                               const std::vector<Device>& devices) {
  HEARTH_CHECK(module, "Cannot replicate an empty module");
  std::vector<std::shared_ptr<Module>> replicas;
  std::vector<variable_list> copies;
  for (const Device& device : devices) {
    replicas.push_back(clone_on(*module, device));
    copies.push_back(copies_of_trained(*module, *replicas.back()));
  }
  link_copies(trained_tensors(*module), copies, /*copies_data=*/false);
  return replicas;
}

void fail_other_type(const Module& module, const Module& clone) {
  hearth::detail::fail<Error>("clone() of ", module.name(), " returned a ", clone.name(),
                              ". A class that derives from a Cloneable must itself be declared as "
                              "`class ",
                              module.name(), " : public Cloneable<", module.name(), ">`");
}

}  // namespace hearth::nn::parallel::detail
