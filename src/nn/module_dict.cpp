#include "hearth/nn/module_dict.h"

namespace hearth::nn {

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  const auto clone = std::make_shared<ModuleDictImpl>();
  for (const auto& item : modules_) clone->insert(item.key(), item.value()->clone(device));
  clone->take_modes(*this);
  return clone;
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = modules_[key];
  modules_.erase(key);
  unregister_module(key);
  return module;
}

void ModuleDictImpl::clear() {
  for (const auto& item : modules_) unregister_module(item.key());
  modules_.clear();
}

void ModuleDictImpl::insert(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key)) {
    modules_[key] = replace_module(key, std::move(module));
  } else {
    modules_.insert(key, register_module(key, std::move(module)));
  }
}

}  // namespace hearth::nn
