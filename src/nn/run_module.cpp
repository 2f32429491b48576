#include "hearth/nn/run_module.h"

#include <string_view>

#include "nn/backward_call.h"

namespace hearth::nn::detail {

ModuleCall::ModuleCall(const Module& module)
    : module_(const_cast<Module&>(module)),
      scope_((module.path().empty() ? module.name() : module.path()).c_str(), &module) {}

std::shared_ptr<BackwardCall> ModuleCall::before(std::vector<AnyValue>& arguments) const {
  const auto hooks = module_.hooks_.table().before;  // a copy: a hook may remove itself
  for (const auto& [id, hook] : hooks) (*hook)(module_, arguments);
  const std::shared_ptr<HookTable> table = module_.hooks_.pointer();
  if (!table->has_backward()) return nullptr;
  auto backward = std::make_shared<BackwardCall>(module_, table);
  backward->watch_arguments(arguments);
  return backward;
}

void ModuleCall::after(const std::vector<AnyValue>& arguments, AnyValue& result) const {
  const auto hooks = module_.hooks_.table().after;
  for (const auto& [id, hook] : hooks) (*hook)(module_, arguments, result);
}

void ModuleCall::watch(BackwardCall& backward, const std::vector<Tensor*>& results,
                       const std::type_info& type) {
  backward.watch_results(results, type);
}

void ModuleCall::explain(Error& error) const {
  constexpr std::string_view kStart = "in module ";
  if (std::string_view(error.msg()).find(std::string("\n").append(kStart)) !=
      std::string_view::npos)
    return;
  std::string line(kStart);
  const std::string class_name = module_.printed_name();
  line += module_.path().empty() ? class_name : module_.path() + " (" + class_name + ")";
  error.append_line(line);
}

}  // namespace hearth::nn::detail
