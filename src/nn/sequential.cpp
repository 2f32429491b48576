#include "hearth/nn/sequential.h"

namespace hearth::nn {

SequentialImpl::SequentialImpl(OrderedDict<std::string, AnyModule>&& modules) {
  modules_.reserve(modules.size());
  for (auto& item : modules) push_back(item.key(), std::move(item.value()));
}

SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  modules_.reserve(modules.size());
  for (const NamedAnyModule& item : modules) push_back(item.name(), item.module());
}

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  const auto clone = std::make_shared<SequentialImpl>();
  const std::vector<std::string> names = named_children().keys();
  for (size_t i = 0; i < modules_.size(); ++i)
    clone->push_back(names[i], modules_[i].clone(device));
  clone->take_modes(*this);
  return clone;
}

void SequentialImpl::push_back(std::string name, AnyModule module) {
  register_module(std::move(name), module.ptr());
  modules_.push_back(std::move(module));
}

AnyModule& SequentialImpl::first() {
  HEARTH_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
  return modules_.front();
}

AnyValue SequentialImpl::pass_on(AnyValue value) {
  for (size_t i = 1; i < modules_.size(); ++i) value = modules_[i].any_forward(std::move(value));
  return value;
}

const AnyModule& SequentialImpl::checked(size_t index) const {
  HEARTH_CHECK(index < size(), "Index out of range");
  return modules_[index];
}

Sequential::Sequential(std::initializer_list<NamedAnyModule> modules)
    : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}

}  // namespace hearth::nn
