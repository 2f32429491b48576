#include "hearth/nn/module.h"

#include "hearth/autograd.h"
#include "hearth/demangle.h"
#include "hearth/libtorch_name.h"
#include "hearth/memory_stats.h"
#include "hearth/nn/cloneable.h"
#include "hearth/nn/pimpl.h"
#include "nn/names.h"

namespace hearth::nn {

namespace {

/// Checks that a new name is valid and in no dictionary of another kind; insert() checks its own
/// dictionary.
template <class... Dicts>
void check_name(const char* kind, const std::string& name, const Dicts&... others) {
  HEARTH_CHECK(!name.empty(), kind, " name must not be empty");
  HEARTH_CHECK(name.find('.') == std::string::npos, kind, " name must not contain a dot (got '",
               name, "')");
  HEARTH_CHECK((... && !others.contains(name)), "attribute '", name, "' already exists");
}

void check_child(const Module& parent, const std::string& name,
                 const std::shared_ptr<const Module>& module) {
  HEARTH_CHECK(module, "Submodule '", name, "' must not be null");
  module->apply([&](const Module& part) {
    HEARTH_CHECK(&part != &parent, "Submodule '", name, "' must not be or contain the module in ",
                 "which it is registered");
  });
}

}  // namespace

Module::Module() : parameters_("Parameter"), buffers_("Buffer"), children_("Submodule") {}

Module::Module(std::string name) : Module() { name_ = std::move(name); }

Module::~Module() = default;

const std::string& Module::name() const noexcept {
  return name_.empty() ? libtorch_name(typeid(*this)) : name_;
}

std::string Module::printed_name() const {
  constexpr std::string_view kNamespace = "torch::nn::", kImpl = "Impl";
  std::string_view text = name();
  if (text.starts_with(kNamespace)) {
    text.remove_prefix(kNamespace.size());
    if (text.ends_with(kImpl)) text.remove_suffix(kImpl.size());
  }
  return std::string(text);
}

// ---- registration

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name, buffers_, children_);
  if (tensor.defined() && tensor.is_leaf())
    tensor.set_requires_grad(requires_grad);
  else if (!tensor.defined() && requires_grad)
    warn(
        "An undefined tensor cannot require grad. "
        "Ignoring the `requires_grad=true` function parameter.");
  set_memory_tag(tensor, MemoryTag::Parameter);
  return parameters_.insert(std::move(name), std::move(tensor));
}

void Module::unregister_parameter(const std::string& name) {
  HEARTH_CHECK(parameters_.contains(name), "No Parameter with name `", name, "` is registered");
  parameters_.erase(name);
}

Tensor& Module::register_buffer(std::string name, Tensor tensor, bool persistent) {
  check_name("Buffer", name, parameters_, children_);
  set_memory_tag(tensor, MemoryTag::Parameter);
  Tensor& buffer = buffers_.insert(name, std::move(tensor));
  if (!persistent) unsaved_.push_back(std::move(name));
  return buffer;
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name, parameters_, buffers_);
  check_child(*this, name, module);
  children_.insert(name, module);
  module->set_path(detail::join_path(path_.value, name));
}

void Module::replace_child(const std::string& name, std::shared_ptr<Module> module) {
  check_child(*this, name, module);
  std::shared_ptr<Module>& child = children_[name];
  child->set_path({});
  child = std::move(module);
  child->set_path(detail::join_path(path_.value, name));
}

void Module::unregister_module(const std::string& name) {
  const std::shared_ptr<Module>* child = children_.find(name);
  HEARTH_CHECK(child, "No Module with name `", name, "` is registered");
  (*child)->set_path({});
  children_.erase(name);
}

void Module::set_path(std::string path) {
  path_.value = std::move(path);
  for (auto& child : children_)
    child.value()->set_path(detail::join_path(path_.value, child.key()));
}

// ---- copies, modes, conversions

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  hearth::detail::fail<Error>("clone() has not been implemented for ", name(),
                              ". Subclass hearth::nn::Cloneable<", name(),
                              "> instead of hearth::nn::Module to inherit the ability to clone.");
}

void Module::clone_(Module&, const std::optional<Device>&) {}

std::shared_ptr<Module> detail::CloneableModule::clone(const std::optional<Device>& device) const {
  const std::shared_ptr<CloneableModule> copy(new_copy());
  copy->remake(
      *this, [&] { copy->reset(); }, device);
  return copy;
}

void detail::CloneableModule::clone_(Module& other, const std::optional<Device>& device) {
  HEARTH_CHECK(assign(*other.clone(device)),
               "Attempted to clone submodule, but it is of a different type than the submodule it "
               "was to be cloned into");
  set_path(path());  // the path is the same; this sets the paths of the new submodules
}

void Module::take_modes(const Module& other) {
  is_training_ = other.is_training_;
  hooks_ = other.hooks_;
}

void Module::train(bool on) {
  for (auto& child : children_) child.value()->train(on);
  is_training_ = on;
}

void Module::to(Device device, ScalarType dtype, bool non_blocking) {
  for (auto& child : children_) child.value()->to(device, dtype, non_blocking);
  convert(device, dtype, non_blocking);
}

void Module::to(ScalarType dtype, bool non_blocking) {
  for (auto& child : children_) child.value()->to(dtype, non_blocking);
  convert({}, dtype, non_blocking);
}

void Module::to(Device device, bool non_blocking) {
  for (auto& child : children_) child.value()->to(device, non_blocking);
  convert(device, {}, non_blocking);
}

void Module::convert(std::optional<Device> device, std::optional<ScalarType> dtype,
                     bool non_blocking) {
  HEARTH_CHECK_AS(
      TypeError, !dtype || is_differentiable(*dtype),
      "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.",
      python_name_of(dtype.value_or(kFloat)));
  const TensorOptions options = TensorOptions().device(device).dtype(dtype);
  const auto convert_data = [&](const Tensor& tensor, const TensorOptions& to) {
    tensor.set_data(tensor.data().to(to, non_blocking));
  };
  for (auto& parameter : named_parameters(false)) {
    convert_data(*parameter, options);
    if (parameter->grad().defined()) convert_data(parameter->grad(), options);
  }
  const bool keep_integers = dtype && is_floating_point(*dtype);
  for (auto& buffer : named_buffers(false)) {
    const bool keeps = keep_integers && !buffer->is_floating_point();
    convert_data(*buffer, keeps ? options.dtype(std::optional<ScalarType>()) : options);
  }
}

void Module::zero_grad(bool set_to_none) {
  for (auto& child : children_) child.value()->zero_grad(set_to_none);
  for (const auto& parameter : parameters_) {
    if (!parameter->defined()) continue;
    Tensor& grad = parameter->mutable_grad();
    if (!grad.defined()) continue;
    if (set_to_none) {
      grad.reset();
    } else {
      grad = grad.detach();
      grad.zero_();
    }
  }
}

Module& Module::requires_grad_(bool requires_grad) {
  for (const Tensor& parameter : parameters()) parameter.set_requires_grad(requires_grad);
  return *this;
}

// ---- holders and forward() with default arguments

void detail::fail_empty_holder(const std::type_info& pointer) {
  std::string type = demangle(pointer.name());
  if (type.ends_with('*')) type.pop_back();
  hearth::detail::fail<Error>(
      "Accessing empty ModuleHolder of ", type,
      ": it was declared with nullptr and no module was assigned to it, as in "
      "`layer = register_module(\"layer\", …)`");
}

namespace {
[[noreturn]] void fail_without_macro(const char* function) {
  hearth::detail::fail<Error>("A module whose forward() has default arguments must override `",
                              function,
                              "`. Please use the `FORWARD_HAS_DEFAULT_ARGS` macro to do so.");
}
}  // namespace

unsigned int Module::_forward_num_required_args() {
  fail_without_macro("_forward_num_required_args");
}

std::vector<AnyValue> Module::_forward_populate_default_args(std::vector<AnyValue>&&) {
  fail_without_macro("_forward_populate_default_args");
}

}  // namespace hearth::nn
