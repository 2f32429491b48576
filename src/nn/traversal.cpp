// Traversal of a module and its submodules: lists, apply, printing.
#include <ostream>

#include "hearth/nn/module.h"
#include "nn/names.h"

namespace hearth::nn {

namespace {

/// Returns the defined tensors of a dictionary.
OrderedDict<std::string, Tensor> only_defined(const OrderedDict<std::string, Tensor>& tensors) {
  OrderedDict<std::string, Tensor> result;
  for (const auto& item : tensors)
    if (item->defined()) result.insert(item.key(), item.value());
  return result;
}

/// Returns the tensors that `list` returns for the module and for each submodule, by path.
template <class List>
OrderedDict<std::string, Tensor> of_all_modules(const Module& module, List list) {
  OrderedDict<std::string, Tensor> result;
  module.apply([&](const std::string& name, const Module& part) {
    for (const auto& item : list(part))
      result.insert(detail::join_path(name, item.key()), item.value());
  });
  return result;
}

/// Returns the defined tensors of a module and, with `recurse`, of all submodules.
template <class List>
std::vector<Tensor> tensors_of(const Module& module, bool recurse, List list) {
  std::vector<Tensor> tensors;
  const auto append = [&](const Module& part) {
    for (const auto& item : list(part))
      if (item->defined()) tensors.push_back(*item);
  };
  if (recurse)
    module.apply(append);
  else
    append(module);
  return tensors;
}

}  // namespace

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  if (!recurse) return only_defined(parameters_);
  return of_all_modules(*this, [](const Module& part) { return part.named_parameters(false); });
}

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  if (!recurse) return only_defined(buffers_);
  return of_all_modules(*this, [](const Module& part) { return part.named_buffers(false); });
}

OrderedDict<std::string, Tensor> Module::saved_buffers() const {
  OrderedDict<std::string, Tensor> result = only_defined(buffers_);
  for (const std::string& name : unsaved_)
    if (result.contains(name)) result.erase(name);
  return result;
}

std::vector<Tensor> Module::parameters(bool recurse) const {
  return tensors_of(
      *this, recurse, [](const Module& part) -> auto& { return part.parameters_; });
}

std::vector<Tensor> Module::buffers(bool recurse) const {
  return tensors_of(
      *this, recurse, [](const Module& part) -> auto& { return part.buffers_; });
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  std::vector<std::shared_ptr<Module>> result;
  if (include_self) result.push_back(shared_from_this_checked());
  apply_to_submodules(
      [&](const std::string&, const std::shared_ptr<Module>& part) { result.push_back(part); }, {});
  return result;
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(
    const std::string& name_prefix, bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> result;
  if (include_self) result.insert(name_prefix, shared_from_this_checked());
  apply_to_submodules([&](const std::string& name,
                          const std::shared_ptr<Module>& part) { result.insert(name, part); },
                      name_prefix);
  return result;
}

std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const {
  return children_;
}

// ---- apply

void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  for (const auto& child : children_) child.value()->apply(function);
}

void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  for (const auto& child : children_) std::as_const(*child.value()).apply(function);
}

void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  function(name_prefix, *this);
  apply_to_submodules(
      [&](const std::string& name, const std::shared_ptr<Module>& part) { function(name, *part); },
      name_prefix);
}

void Module::apply(const ConstNamedModuleApplyFunction& function,
                   const std::string& name_prefix) const {
  function(name_prefix, *this);
  apply_to_submodules(
      [&](const std::string& name, const std::shared_ptr<Module>& part) { function(name, *part); },
      name_prefix);
}

void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_from_this_checked());
  apply_to_submodules(
      [&](const std::string&, const std::shared_ptr<Module>& part) { function(part); }, {});
}

void Module::apply(const NamedModulePointerApplyFunction& function,
                   const std::string& name_prefix) const {
  function(name_prefix, shared_from_this_checked());
  apply_to_submodules(function, name_prefix);
}

void Module::apply_to_submodules(const NamedModulePointerApplyFunction& function,
                                 const std::string& name_prefix) const {
  for (const auto& child : children_) {
    const std::string name = detail::join_path(name_prefix, child.key());
    function(name, child.value());
    child.value()->apply_to_submodules(function, name);
  }
}

std::shared_ptr<Module> Module::shared_from_this_checked() const {
  // As with shared_ptr, constness is not deep: a const module returns non-const submodules.
  if (auto self = const_cast<Module*>(this)->weak_from_this().lock()) return self;
  hearth::detail::fail<Error>(
      "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is "
      "not stored in one. Use std::make_shared<",
      name(),
      "> instead of creating it on the stack, or leave it out by passing /*include_self=*/false to "
      "modules() or named_modules()");
}

// ---- printing

void Module::pretty_print(std::ostream& stream) const { stream << printed_name(); }

void Module::pretty_print_recursive(std::ostream& stream, const std::string& indentation) const {
  pretty_print(stream);
  if (children_.is_empty()) return;
  stream << "(\n";
  const std::string deeper = indentation + "  ";
  for (const auto& child : children_) {
    stream << deeper << '(' << child.key() << "): ";
    child.value()->pretty_print_recursive(stream, deeper);
    stream << '\n';
  }
  stream << indentation << ')';
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.pretty_print_recursive(stream, "");
  return stream;
}

}  // namespace hearth::nn
