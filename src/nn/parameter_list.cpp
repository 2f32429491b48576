#include "hearth/nn/parameter_list.h"

#include <ostream>

#include "hearth/autograd.h"
#include "hearth/stream.h"
#include "nn/clone.h"

namespace hearth::nn {

namespace {

using Dict = OrderedDict<std::string, Tensor>;

void print(std::ostream& stream, const char* name, const Dict& parameters) {
  stream << name << "(\n";
  for (const auto& item : parameters)
    stream << '(' << item.key() << "): Parameter containing: [" << item->scalar_type()
           << " of size " << item->sizes() << "]\n";
  stream << ')';
}

/// Returns a leaf with a copy of the values, on `device` if given.
Tensor copy_of(const Tensor& parameter, const std::optional<Device>& device) {
  const NoGradGuard no_grad;
  const bool changes_device = device && parameter.device() != *device;
  const Tensor values = parameter.detach();
  return (changes_device ? values.to(*device) : values.clone())
      .requires_grad_(parameter.requires_grad());
}

}  // namespace

std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  check_can_be_cloned(*this);
  const auto clone = std::make_shared<ParameterListImpl>();
  for (const auto& item : parameters_) clone->append(copy_of(*item, device));
  clone->take_modes(*this);
  return clone;
}

void ParameterListImpl::pretty_print(std::ostream& stream) const {
  print(stream, "ParameterList", parameters_);
}

void ParameterListImpl::append(const Tensor& parameter) {
  register_parameter(std::to_string(size()), parameter, parameter.requires_grad());
}

Tensor& ParameterListImpl::at(size_t index) {
  HEARTH_CHECK(index < size(), "Index out of range");
  return parameters_[index].value();
}

ParameterDictImpl::ParameterDictImpl(const Dict& parameters) {
  for (const auto& item : parameters) insert(item.key(), item.value());
}

std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  check_can_be_cloned(*this);
  const auto clone = std::make_shared<ParameterDictImpl>();
  for (const auto& item : parameters_) clone->insert(item.key(), copy_of(*item, device));
  clone->take_modes(*this);
  return clone;
}

void ParameterDictImpl::pretty_print(std::ostream& stream) const {
  print(stream, "ParameterDict", parameters_);
}

Tensor& ParameterDictImpl::insert(const std::string& key, const Tensor& parameter) {
  return register_parameter(key, parameter, parameter.requires_grad());
}

Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor parameter = parameters_[key];
  parameters_.erase(key);
  return parameter;
}

void ParameterDictImpl::clear() { parameters_.clear(); }
std::vector<std::string> ParameterDictImpl::keys() const { return parameters_.keys(); }
std::vector<Tensor> ParameterDictImpl::values() const { return parameters_.values(); }

bool ParameterDictImpl::contains(const std::string& key) const noexcept {
  return parameters_.contains(key);
}
const Tensor& ParameterDictImpl::get(const std::string& key) const { return parameters_[key]; }
Tensor& ParameterDictImpl::get(const std::string& key) { return parameters_[key]; }

}  // namespace hearth::nn
