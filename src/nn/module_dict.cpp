#include "hearth/nn/module_dict.h"

namespace hearth::nn {

ModuleDictImpl::ModuleDictImpl() = default;
ModuleDictImpl::ModuleDictImpl(
    const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
  update(modules);
}
ModuleDictImpl::ModuleDictImpl(const Dict& modules) { update(modules); }

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  const auto clone = std::make_shared<ModuleDictImpl>();
  for (const auto& item : modules_) clone->insert(item.key(), item.value()->clone(device));
  clone->take_modes(*this);
  return clone;
}

std::vector<std::pair<std::string, std::shared_ptr<Module>>> ModuleDictImpl::items() const {
  return modules_.pairs();
}
std::vector<std::string> ModuleDictImpl::keys() const { return modules_.keys(); }
std::vector<std::shared_ptr<Module>> ModuleDictImpl::values() const { return modules_.values(); }
bool ModuleDictImpl::contains(const std::string& key) const noexcept {
  return modules_.contains(key);
}
std::shared_ptr<Module> ModuleDictImpl::operator[](const std::string& key) const {
  return modules_[key];
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

void ModuleDictImpl::update(
    const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
  for (const auto& [key, module] : modules) insert(key, module);
}

void ModuleDictImpl::insert(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key)) {
    modules_[key] = replace_module(key, std::move(module));
  } else {
    modules_.insert(key, register_module(key, std::move(module)));
  }
}

}  // namespace hearth::nn
