#include "hearth/nn/parametrize.h"

#include <ostream>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "nn/parametrization_list.h"

namespace hearth::nn::utils::parametrize {

namespace detail {

// ---- the list of one parameter

ParametrizationListImpl::ParametrizationListImpl(const Tensor& value, FindMember find, Step step)
    : find_(find), originals_{value}, steps_{std::move(step)} {
  const NoGradGuard no_grad;
  if (steps_[0].right_inverse) {
    std::vector<Tensor> found = steps_[0].right_inverse(*steps_[0].module, value);
    if (found.size() == 1) {
      value.set_data(found[0].detach().clone());
    } else {
      originals_ = std::move(found);
      for (const Tensor& original : originals_) original.set_requires_grad(value.requires_grad());
    }
  }
  for (size_t i = 0; i < originals_.size(); ++i)
    register_parameter(originals_.size() == 1 ? "original" : "original" + std::to_string(i),
                       originals_[i], value.requires_grad());
  register_module("0", steps_[0].module);
}

void ParametrizationListImpl::reset() {
  for (size_t i = 0; i < originals_.size(); ++i)
    originals_[i] =
        register_parameter(originals_.size() == 1 ? "original" : "original" + std::to_string(i),
                           empty_like(originals_[i].detach()), originals_[i].requires_grad());
  for (size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].module = steps_[i].module->clone();
    register_module(std::to_string(i), steps_[i].module);
  }
}

void ParametrizationListImpl::pretty_print(std::ostream& stream) const {
  stream << "ParametrizationList";
}

void ParametrizationListImpl::append(Step step) {
  register_module(std::to_string(steps_.size()), step.module);
  steps_.push_back(std::move(step));
}

Tensor ParametrizationListImpl::compute() const {
  Tensor value = steps_[0].forward(*steps_[0].module, originals_);
  for (size_t i = 1; i < steps_.size(); ++i) value = steps_[i].forward(*steps_[i].module, {value});
  return value;
}

// ---- the lists of a module

void ParametrizationsImpl::pretty_print(std::ostream& stream) const { stream << "ModuleDict"; }

std::shared_ptr<ParametrizationListImpl> ParametrizationsImpl::find(const std::string& name) const {
  const auto lists = named_children();
  const auto* list = lists.find(name);
  return list ? std::dynamic_pointer_cast<ParametrizationListImpl>(*list) : nullptr;
}

std::shared_ptr<ParametrizationsImpl> parametrizations_of(const Module& module) {
  const auto children = module.named_children();
  const auto* lists = children.find("parametrizations");
  return lists ? std::dynamic_pointer_cast<ParametrizationsImpl>(*lists) : nullptr;
}

std::shared_ptr<Module> copy_parametrizations(const Module& module, Module& clone,
                                              const std::optional<Device>& device) {
  const auto own_lists = parametrizations_of(module);
  if (!own_lists) return nullptr;
  const auto lists = std::make_shared<ParametrizationsImpl>();
  lists->train(own_lists->is_training());
  for (const auto& item : own_lists->named_children()) {
    const std::string& name = item.key();
    const FindMember member = own_lists->find(name)->member();
    clone.unregister_parameter(name);
    lists->register_module(name, item.value()->clone(device));
    const Tensor value = member(const_cast<Module&>(module), name)->detach().clone();
    *member(clone, name) = device ? value.to(*device) : value;
  }
  clone.register_module("parametrizations", lists);
  return own_lists;
}

Tensor parametrized_value(const Module& module, const std::string& name) {
  if (const auto lists = parametrizations_of(module))
    if (const auto list = lists->find(name)) return list->compute();
  const auto parameters = module.named_parameters(/*recurse=*/false);
  const Tensor* parameter = parameters.find(name);
  HEARTH_CHECK_AS(ValueError, parameter, "Module '", module.name(),
                  "' does not have a parameter, a buffer, or a parametrized element with name '",
                  name, "'");
  return *parameter;
}

namespace {

/// A hook that computes the module's member before forward(), unless the list was removed.
struct Refresh {
  std::string name;
  std::shared_ptr<const int> mark;
  void operator()(Module& module, std::vector<AnyValue>&) const {
    const auto lists = parametrizations_of(module);
    const auto list = lists ? lists->find(name) : nullptr;
    if (list && list->mark() == mark) *list->member()(module, name) = list->compute();
  }
};

void check_like(const Tensor& value, const Tensor& computed) {
  HEARTH_CHECK_AS(ValueError, computed.scalar_type() == value.scalar_type(),
                  "Registering a parametrization may not change the dtype of the tensor.\n"
                  "unparametrized dtype: ",
                  name_of(value.scalar_type()),
                  "\nparametrized dtype: ", name_of(computed.scalar_type()));
  HEARTH_CHECK_AS(ValueError, computed.sizes() == value.sizes(),
                  "Registering a parametrization may not change the shape of the tensor.\n"
                  "unparametrized shape: ",
                  value.sizes(), "\nparametrized shape: ", computed.sizes());
}

/// Adds the first parametrization of a parameter.
void add_first(Module& module, const std::string& name, FindMember find, Step step) {
  const Tensor value = parametrized_value(module, name);
  const bool is_training = module.is_training();
  step.module->train(is_training);
  const Tensor former_value = value.detach().clone();  // the list may change `value`
  const auto list = std::make_shared<ParametrizationListImpl>(value, find, std::move(step));
  list->train(is_training);
  const Tensor computed = list->compute();
  check_like(former_value, computed);
  auto lists = parametrizations_of(module);
  if (!lists) {
    lists = std::make_shared<ParametrizationsImpl>();
    lists->train(is_training);
    module.register_module("parametrizations", lists);
  }
  module.unregister_parameter(name);
  lists->register_module(name, list);
  *find(module, name) = computed;
  module.register_forward_pre_hook(Refresh{name, list->mark()});
}

}  // namespace

void add(Module& module, const std::string& name, FindMember find, Step step) {
  HEARTH_CHECK_AS(ValueError, find(module, name), "Module '", module.name(), "' has no member '",
                  name,
                  "' that a parametrization can compute; only `weight` and `bias` are possible");
  if (!is_parametrized(module, name)) return add_first(module, name, find, std::move(step));
  const Tensor value = parametrized_value(module, name);
  step.module->train(module.is_training());
  const Tensor computed = step.forward(*step.module, {value});
  check_like(value, computed);
  parametrizations_of(module)->find(name)->append(std::move(step));
  *find(module, name) = computed;
}

void remove(Module& module, const std::string& name, FindMember find, bool keep_value) {
  const auto lists = parametrizations_of(module);
  const auto list = lists ? lists->find(name) : nullptr;
  HEARTH_CHECK_AS(ValueError, list, "Module ", module.name(),
                  " does not have a parametrization on ", name);
  const std::vector<Tensor>& originals = list->originals();
  HEARTH_CHECK_AS(ValueError, keep_value || originals.size() == 1,
                  "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
                  "parametrized in terms of a sequence of tensors.");
  const bool requires_grad = originals[0].requires_grad();
  Tensor value = originals[0];
  if (keep_value) {
    const NoGradGuard no_grad;
    const Tensor computed = list->compute().detach().clone();
    if (originals.size() == 1)
      value.set_data(computed);  // the optimizer may hold this tensor
    else
      value = computed;
  }
  lists->unregister_module(name);
  if (lists->children().empty()) module.unregister_module("parametrizations");
  *find(module, name) = module.register_parameter(name, value, requires_grad);
}

}  // namespace detail

bool is_parametrized(const Module& module, const std::string& name) {
  const auto lists = detail::parametrizations_of(module);
  return lists && (name.empty() ? !lists->children().empty() : lists->find(name) != nullptr);
}

}  // namespace hearth::nn::utils::parametrize
