#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/nn/any_value.h"
#include "hearth/nn/hooks.h"
#include "hearth/ordered_dict.h"
#include "hearth/tensor.h"

namespace hearth {

namespace serialize {
class InputArchive;
class OutputArchive;
}  // namespace serialize

namespace nn {

template <class Contained>
class ModuleHolder;
template <class M, class... Args>
struct AnyModuleHolder;
namespace detail {
class CloneableModule;
class ModuleCall;
struct ModuleHolderTag {};
template <class T>
inline constexpr bool is_holder = std::is_base_of_v<ModuleHolderTag, std::decay_t<T>>;
}  // namespace detail

/// What load_state_dict could not match.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys, unexpected_keys;
};

/// The base of all modules: parameters, buffers and other modules under names, in the order in
/// which they were registered. A module that is to be found through shared_ptr<Module> must live in
/// a std::shared_ptr, as holders see to.
class HEARTH_API Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction =
      std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  Module();
  /// A module with a name of its own instead of its class's.
  explicit Module(std::string name);
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  virtual ~Module();

  /// Its class, "test::Net", unless it was given a name.
  const std::string& name() const noexcept;
  /// Its place in the module it is registered in, "net.fc1"; empty for the outermost one.
  const std::string& path() const noexcept { return place_.path; }

  /// Names may not be empty, contain a dot or be in use. What has a history keeps it.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, ModuleHolder<M> holder) {
    return register_module(std::move(name), holder.ptr());
  }
  /// Puts another module in the place of a registered one.
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module) {
    put_child(name, module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, ModuleHolder<M> holder) {
    return replace_module(name, holder.ptr());
  }
  void unregister_module(const std::string& name);

  /// Those that are defined: its own and, with `recurse`, those of all modules in it.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  /// All modules in it, however deep, and itself first.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(
      const std::string& name_prefix = std::string(), bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  /// Calls the function for this module and then for all modules in it.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function,
             const std::string& name_prefix = std::string());
  void apply(const ConstNamedModuleApplyFunction& function,
             const std::string& name_prefix = std::string()) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function,
             const std::string& name_prefix = std::string()) const;

  /// A module of its own with copies of everything; see Cloneable.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;
  virtual void train(bool on = true);
  void eval() { train(false); }
  virtual bool is_training() const noexcept { return is_training_; }
  /// Converts in place. Integral buffers, such as counters, keep their dtype when the new one is
  /// floating-point.
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual void zero_grad(bool set_to_none = true);
  /// For all parameters: with false, training leaves the module as it is.
  Module& requires_grad_(bool requires_grad = true);

  /// All parameters and buffers by path, without history; they share the module's memory.
  OrderedDict<std::string, Tensor> state_dict() const;
  /// Copies tensors into the parameters and buffers of the same names. `strict`: no name may be
  /// missing or unknown. Sizes must fit. Nothing is copied if anything is wrong.
  IncompatibleKeys load_state_dict(const OrderedDict<std::string, Tensor>& state,
                                   bool strict = true);
  /// The same for a list of pairs, as io::load_safetensors gives. (A template, so that braces mean
  /// a dictionary.)
  template <class List>
  requires std::is_same_v<List, std::vector<std::pair<std::string, Tensor>>> IncompatibleKeys
  load_state_dict(const List& state, bool strict = true) {
    OrderedDict<std::string, Tensor> dict;
    for (const auto& [name, tensor] : state) dict.insert(name, tensor);
    return load_state_dict(dict, strict);
  }
  virtual void save(serialize::OutputArchive& archive) const;
  /// Tensors keep device and dtype and take the archive's sizes, with a warning where a parameter
  /// had others. If it throws, all tensors have the data and values that they had before.
  virtual void load(serialize::InputArchive& archive);
  /// Whether save() and load() of the module around it include this one.
  virtual bool is_serializable() const { return true; }

  /// Called, in the order of registration, before and after each forward() that runs through
  /// run_module: all of Hearth's own modules, and any module called through its holder, a
  /// Sequential or an AnyModule. A user's forward() called as m->forward(x) runs no hooks.
  RemovableHandle register_forward_pre_hook(ForwardPreHook hook);
  RemovableHandle register_forward_hook(ForwardHook hook);

  /// Its class without namespace and options; overridden by what prints more.
  virtual void pretty_print(std::ostream& stream) const;

  /// This module as an M, or null if it is none; M may be a holder.
  template <class M>
  auto* as() noexcept {
    if constexpr (detail::is_holder<M>)
      return dynamic_cast<typename M::ContainedType*>(this);
    else
      return dynamic_cast<M*>(this);
  }
  template <class M>
  const auto* as() const noexcept {
    return const_cast<Module*>(this)->as<M>();
  }

 protected:
  // FORWARD_HAS_DEFAULT_ARGS overrides these.
  virtual bool _forward_has_default_args() { return false; }
  virtual unsigned int _forward_num_required_args();
  virtual std::vector<AnyValue> _forward_populate_default_args(std::vector<AnyValue>&& arguments);

  /// Training mode and hooks of another module, for a clone made by hand.
  void take_modes(const Module& other);

  OrderedDict<std::string, Tensor> parameters_;

 private:
  template <class M, class... Args>
  friend struct AnyModuleHolder;
  friend class detail::CloneableModule;
  friend class detail::ModuleCall;
  friend HEARTH_API std::ostream& operator<<(std::ostream& stream, const Module& module);

  /// Where a module is registered; copies of the module are not.
  struct Place {
    Place() = default;
    Place(const Place&) {}
    Place& operator=(const Place&) { return *this; }
    std::string path;
  };

  virtual void clone_(Module& other, const std::optional<Device>& device);
  /// For a clone: drops what it shares with `from`, calls reset() to make it anew, and copies.
  void remake(const Module& from, const std::function<void()>& reset,
              const std::optional<Device>& device);
  void add_child(std::string name, std::shared_ptr<Module> module);
  void put_child(const std::string& name, std::shared_ptr<Module> module);
  void set_path(std::string path);
  void load_parts(serialize::InputArchive& archive);
  void convert(std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking);
  void apply_to_submodules(const NamedModulePointerApplyFunction& function,
                           const std::string& name_prefix) const;
  void pretty_print_recursive(std::ostream& stream, const std::string& indentation) const;
  std::shared_ptr<Module> shared_from_this_checked() const;
  /// "Linear" for hearth::nn::LinearImpl, a user's class as it is.
  std::string printed_name() const;

  OrderedDict<std::string, Tensor> buffers_;
  OrderedDict<std::string, std::shared_ptr<Module>> children_;
  std::string name_;
  Place place_;
  detail::Hooks hooks_;
  bool is_training_ = true;
};

/// As Python prints modules: one line each, children indented below.
HEARTH_API std::ostream& operator<<(std::ostream& stream, const Module& module);

}  // namespace nn
}  // namespace hearth
