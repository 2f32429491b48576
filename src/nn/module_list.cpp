#include "hearth/nn/module_list.h"

namespace hearth::nn {

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  const auto clone = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) clone->push_back(module->clone(device));
  clone->take_modes(*this);
  return clone;
}

void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  register_module(std::to_string(modules_.size()), module);
  modules_.push_back(std::move(module));
}

void ModuleListImpl::insert(size_t index, std::shared_ptr<Module> module) {
  HEARTH_CHECK(index <= size(), "Index out of range");
  HEARTH_CHECK(module, "Submodule '", index, "' must not be null");
  if (index == size()) return push_back(std::move(module));
  register_module(std::to_string(size()), modules_.back());
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  for (size_t i = index; i < size(); ++i) replace_module(std::to_string(i), modules_[i]);
}

const std::shared_ptr<Module>& ModuleListImpl::checked(size_t index) const {
  HEARTH_CHECK(index < size(), "Index out of range");
  return modules_[index];
}

}  // namespace hearth::nn
