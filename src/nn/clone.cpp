#include "nn/clone.h"

#include "hearth/autograd.h"
#include "hearth/shards.h"
#include "nn/parametrization_list.h"

namespace hearth::nn {

namespace {

using Tensors = OrderedDict<std::string, Tensor>;

void check_same_number(size_t cloned, size_t original, const char* kind, const char* function) {
  HEARTH_CHECK(cloned == original, "The cloned module does not have the same number of ", kind,
               " as the original module after calling reset(). Are you sure you called ", function,
               "() inside reset() and not the constructor?");
}

void copy_tensors(const Tensors& from, Tensors& to, const std::optional<Device>& device) {
  for (const auto& item : from) {
    if (!item->defined()) continue;
    const bool changes_device = device && item->device() != *device;
    to[item.key()].set_data(changes_device ? item->detach().to(*device) : item->detach().clone());
  }
}

}  // namespace

void check_can_be_cloned(const Module& module) {
  for (const auto& item : module.named_parameters(/*recurse=*/false))
    HEARTH_CHECK(!shard_ranks_of(*item),
                 "clone() does not support modules to which fully_shard "
                 "was applied: this rank has only a part of '",
                 item.key(), "' of ", module.name(),
                 ". Clone the module before fully_shard, or load its state_dict() into another "
                 "module to which fully_shard was applied");
}

void Module::remake(const Module& from, const std::function<void()>& reset,
                    const std::optional<Device>& device) {
  check_can_be_cloned(from);
  const NoGradGuard no_grad;
  parameters_.clear();
  buffers_.clear();
  unsaved_.clear();
  children_.clear();
  reset();
  const std::shared_ptr<Module> original_lists =
      utils::parametrize::detail::copy_parametrizations(from, *this, device);
  check_same_number(parameters_.size(), from.parameters_.size(), "parameters",
                    "register_parameter");
  check_same_number(buffers_.size(), from.buffers_.size(), "buffers", "register_buffer");
  check_same_number(children_.size(), from.children_.size(), "child modules", "register_module");
  copy_tensors(from.parameters_, parameters_, device);
  copy_tensors(from.buffers_, buffers_, device);
  for (const auto& child : from.children_)
    if (child.value() != original_lists) children_[child.key()]->clone_(*child.value(), device);
}

}  // namespace hearth::nn
