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

/// The keys that load_state_dict could not match: keys that the dictionary lacks, and keys that the
/// module lacks.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys, unexpected_keys;
};

/// Base of all modules: named parameters, buffers and submodules in the order of registration.
/// Functions that return the module as a shared_ptr require that a shared_ptr owns it, as in
/// holders.
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
  explicit Module(std::string name);  ///< by default, the name is that of the class
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  virtual ~Module();

  const std::string& name() const noexcept;  ///< by default the class, "test::Net"
  const std::string& path() const noexcept { return path_.value; }  ///< "net.fc1"; "" at the top

  /// Adds a tensor that is trained. Names must be new and may not be empty or contain a dot.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  void unregister_parameter(const std::string& name);  ///< removes a parameter
  /// Adds a tensor that is not trained. state_dict() and files omit it unless it is persistent.
  Tensor& register_buffer(std::string name, Tensor tensor, bool persistent = true);
  /// Adds a submodule and returns it.
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, ModuleHolder<M> holder) {
    return register_module(std::move(name), holder.ptr());
  }
  /// Replaces a registered submodule.
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module) {
    replace_child(name, module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, ModuleHolder<M> holder) {
    return replace_module(name, holder.ptr());
  }
  void unregister_module(const std::string& name);  ///< removes a submodule

  /// The defined parameters of this module and, with `recurse`, of all submodules.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;  ///< by path
  std::vector<Tensor> buffers(bool recurse = true) const;                     ///< as parameters()
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;  ///< by path
  /// This module and all submodules at any depth.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(
      const std::string& name_prefix = std::string(), bool include_self = true) const;  ///< by path
  std::vector<std::shared_ptr<Module>> children() const;  ///< the direct submodules
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;  ///< by name

  /// Calls the function for this module and then for all submodules.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function,
             const std::string& name_prefix = std::string());
  void apply(const ConstNamedModuleApplyFunction& function,
             const std::string& name_prefix = std::string()) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function,
             const std::string& name_prefix = std::string()) const;

  /// A deep copy, for modules that derive from Cloneable; on `device` if given.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;
  virtual void train(bool on = true);  ///< sets training mode, as in dropout and batch norm
  void eval() { train(false); }        ///< sets evaluation mode
  virtual bool is_training() const noexcept { return is_training_; }
  /// Converts all parameters, their gradients and buffers in place. Buffers that are not
  /// floating-point, such as counters, keep their dtype if the new one is floating-point.
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual void zero_grad(bool set_to_none = true);    ///< drops or zeroes the parameters' gradients
  Module& requires_grad_(bool requires_grad = true);  ///< for all parameters; false freezes them

  /// All parameters and persistent buffers by path, detached; they share the module's memory.
  OrderedDict<std::string, Tensor> state_dict() const;
  /// Copies the tensors into the parameters and buffers of the same paths, whose sizes must match.
  /// `strict`: no path may be missing or unknown. On an error, nothing is copied.
  IncompatibleKeys load_state_dict(const OrderedDict<std::string, Tensor>& state,
                                   bool strict = true);
  /// load_state_dict() of the result of io::load_safetensors. (A template, so that braces mean a
  /// dictionary.)
  template <class List>
  requires std::is_same_v<List, std::vector<std::pair<std::string, Tensor>>> IncompatibleKeys
  load_state_dict(const List& state, bool strict = true) {
    OrderedDict<std::string, Tensor> dict;
    for (const auto& [name, tensor] : state) dict.insert(name, tensor);
    return load_state_dict(dict, strict);
  }
  virtual void save(serialize::OutputArchive& archive) const;  ///< saves parameters and buffers
  /// Loads parameters and buffers. They keep device and dtype and take the archive's sizes, with a
  /// warning if a parameter's sizes change. On an error, all tensors keep their data.
  virtual void load(serialize::InputArchive& archive);
  virtual bool is_serializable() const { return true; }  ///< whether a parent saves and loads it

  /// Registers a hook that is called before each forward() of Hearth's own modules and of modules
  /// called through a holder, a Sequential or an AnyModule. A direct call m->forward(x) of a user's
  /// module runs no hooks. `prepend`: the hook runs before the existing hooks instead of after
  /// them.
  RemovableHandle register_forward_pre_hook(ForwardPreHook hook, bool prepend = false);
  /// Registers a hook that is called after forward(), in the same cases.
  RemovableHandle register_forward_hook(ForwardHook hook, bool prepend = false);
  /// Registers hook(module, grad_input, grad_output), called in backward for each forward() that
  /// ran hooks, as soon as the gradients of its arguments or, if no argument needs a gradient, the
  /// gradients of its results are known. The hook may return a replacement of grad_input. The lists
  /// have undefined gradients for arguments and results that are not tensors. The module may not
  /// modify its arguments in place.
  RemovableHandle register_full_backward_hook(BackwardHook hook, bool prepend = false);
  /// Registers hook(module, grad_output), called once the gradients of the results are known; the
  /// hook may return a replacement of grad_output.
  RemovableHandle register_full_backward_pre_hook(BackwardPreHook hook, bool prepend = false);

  /// Registers a hook that load_state_dict calls before it compares names and sizes.
  RemovableHandle register_load_state_dict_pre_hook(LoadStateDictPreHook hook);

  /// Prints the class name, without namespaces if it is Hearth's; modules override it to print
  /// their options.
  virtual void pretty_print(std::ostream& stream) const;

  /// This module as an M, or null if it has another type; M may be a holder.
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

  /// Copies training mode and hooks of another module, for a hand-written clone().
  void take_modes(const Module& other);

  OrderedDict<std::string, Tensor> parameters_;

 private:
  template <class M, class... Args>
  friend struct AnyModuleHolder;
  friend class detail::CloneableModule;
  friend class detail::ModuleCall;
  friend HEARTH_API std::ostream& operator<<(std::ostream& stream, const Module& module);

  /// The path under which a module is registered; not copied, because a copy of the module is not
  /// registered.
  struct RegisteredPath {
    RegisteredPath() = default;
    RegisteredPath(const RegisteredPath&) {}
    RegisteredPath& operator=(const RegisteredPath&) { return *this; }
    std::string value;
  };

  virtual void clone_(Module& other, const std::optional<Device>& device);
  /// The defined buffers that are saved.
  OrderedDict<std::string, Tensor> saved_buffers() const;
  /// Second half of a clone: drops everything shared with `from`, calls reset(), copies the values.
  void remake(const Module& from, const std::function<void()>& reset,
              const std::optional<Device>& device);
  void add_child(std::string name, std::shared_ptr<Module> module);
  void replace_child(const std::string& name, std::shared_ptr<Module> module);
  void set_path(std::string path);
  void load_parts(serialize::InputArchive& archive);  // called by load(), which undoes it on errors
  void convert(std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking);
  void apply_to_submodules(const NamedModulePointerApplyFunction& function,
                           const std::string& name_prefix) const;
  void pretty_print_recursive(std::ostream& stream, const std::string& indentation) const;
  std::shared_ptr<Module> shared_from_this_checked() const;
  /// "Linear" for hearth::nn::LinearImpl; the class name for a user's class.
  std::string printed_name() const;

  OrderedDict<std::string, Tensor> buffers_;
  std::vector<std::string> unsaved_;  // the buffers that are not persistent
  OrderedDict<std::string, std::shared_ptr<Module>> children_;
  std::string name_;
  RegisteredPath path_;
  detail::Hooks hooks_;
  bool is_training_ = true;
};

/// Prints the module as Python does: one line per module, submodules indented.
HEARTH_API std::ostream& operator<<(std::ostream& stream, const Module& module);

}  // namespace nn
}  // namespace hearth
