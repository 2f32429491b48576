#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/nn/pimpl.h"

namespace hearth::nn {

namespace detail {

/// Default arguments and their positions, counted from 0.
using DefaultArgs = std::vector<std::pair<unsigned int, AnyValue>>;
HEARTH_API std::vector<AnyValue> with_defaults(std::vector<AnyValue>&& arguments,
                                               const DefaultArgs& defaults);
HEARTH_API void check_argument_count(size_t count, size_t expected, const char* type);
HEARTH_API void check_argument_count(size_t count, size_t required, size_t max_count,
                                     const char* type);

template <class M>
concept HasForward = requires {
  &M::forward;
};

}  // namespace detail

/// Type-erased module, as AnyModule holds it.
struct AnyModulePlaceholder {
  using Owned = hearth::detail::OwnedPtr<AnyModulePlaceholder>;

  virtual ~AnyModulePlaceholder() = default;
  virtual AnyValue forward(std::vector<AnyValue>&& arguments) = 0;
  virtual std::shared_ptr<Module> ptr() const = 0;          ///< the module
  virtual const std::type_info& type() const noexcept = 0;  ///< the module's class
  virtual Owned copy() const = 0;                           ///< shares the module
  virtual Owned clone_module(const std::optional<Device>& device) const = 0;
};

/// Type-erased module of type M, whose forward() takes Args.
template <class M, class... Args>
struct AnyModuleHolder final : AnyModulePlaceholder {
  explicit AnyModuleHolder(std::shared_ptr<M> m) : module(std::move(m)) {}

  AnyValue forward(std::vector<AnyValue>&& arguments) override {
    Module& base = *module;
    if (base._forward_has_default_args()) {
      detail::check_argument_count(arguments.size(), base._forward_num_required_args(),
                                   sizeof...(Args), typeid(M).name());
      arguments = base._forward_populate_default_args(std::move(arguments));
    } else {
      detail::check_argument_count(arguments.size(), sizeof...(Args), typeid(M).name());
    }
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return AnyValue(call_forward(
          *module, detail::checked_argument<std::remove_cvref_t<Args>>(arguments, I)...));
    }
    (std::index_sequence_for<Args...>{});
  }
  std::shared_ptr<Module> ptr() const override { return module; }
  const std::type_info& type() const noexcept override { return typeid(M); }
  Owned copy() const override { return Owned(new AnyModuleHolder(module)); }
  Owned clone_module(const std::optional<Device>& device) const override {
    return Owned(new AnyModuleHolder(std::dynamic_pointer_cast<M>(module->clone(device))));
  }

  std::shared_ptr<M> module;
};

/// Holds any module. Its forward() requires exactly the argument types of the module's forward(),
/// or one Tensor if that is a template, such as Sequential's.
class AnyModule {
 public:
  AnyModule() = default;
  template <class M>
  explicit AnyModule(std::shared_ptr<M> module) : content_(make(std::move(module))) {}
  template <class M, std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>, int> = 0>
  explicit AnyModule(M&& module)
      : AnyModule(std::make_shared<std::decay_t<M>>(std::forward<M>(module))) {}
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& holder) : AnyModule(holder.ptr()) {}
  AnyModule(AnyModule&&) = default;
  AnyModule& operator=(AnyModule&&) = default;
  /// Shares the module.
  AnyModule(const AnyModule& other)
      : content_(other.content_ ? other.content_->copy() : AnyModulePlaceholder::Owned()) {}
  AnyModule& operator=(const AnyModule& other) { return *this = AnyModule(other); }
  template <class M>
  AnyModule& operator=(std::shared_ptr<M> module) {
    return *this = AnyModule(std::move(module));
  }
  ~AnyModule() = default;

  /// An AnyModule that holds a clone of the module.
  AnyModule clone(const std::optional<Device>& device = std::nullopt) const {
    AnyModule result;
    if (content_) result.content_ = content_->clone_module(device);
    return result;
  }

  /// Calls the module's forward(args...) and returns its result of any type.
  template <class... Args>
  AnyValue any_forward(Args&&... args) {
    check("forward");
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Args));
    (values.push_back(wrap(std::forward<Args>(args))), ...);
    return content_->forward(std::move(values));
  }
  /// Calls the module's forward(args...), whose result must be a Result.
  template <class Result = Tensor, class... Args>
  Result forward(Args&&... args) {
    return any_forward(std::forward<Args>(args)...).template get<Result>();
  }

  /// The module, whose type must be M; if M is a holder type, a new holder of the module.
  template <class M>
  decltype(auto) get() {
    if constexpr (detail::is_holder<M>)
      return M(ptr<typename M::ContainedType>());
    else
      return checked<M>();
  }
  template <class M>
  decltype(auto) get() const {
    if constexpr (detail::is_holder<M>)
      return M(ptr<typename M::ContainedType>());
    else
      return std::as_const(checked<M>());
  }
  /// The module; throws if there is none.
  std::shared_ptr<Module> ptr() const {
    check("ptr");
    return content_->ptr();
  }
  template <class M>
  std::shared_ptr<M> ptr() const {
    check("ptr");
    checked<M>();
    return std::static_pointer_cast<M>(content_->ptr());
  }
  /// The module's class.
  const std::type_info& type_info() const {
    check("type_info");
    return content_->type();
  }
  bool is_empty() const noexcept { return !content_; }  ///< whether it holds no module

 private:
  static AnyValue wrap(AnyValue value) { return value; }
  template <class T, std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>, int> = 0>
  static AnyValue wrap(T&& value) {
    return AnyValue(std::forward<T>(value));
  }
  template <class M>
  static AnyModulePlaceholder::Owned make(std::shared_ptr<M> module) {
    static_assert(std::is_base_of_v<Module, M>, "AnyModule holds modules only");
    HEARTH_CHECK(module, "An AnyModule cannot hold a null pointer to ", demangle(typeid(M).name()));
    if constexpr (detail::HasForward<M>)
      return make(std::move(module), &M::forward);
    else  // a forward() template, such as Sequential's, is called with one tensor
      return AnyModulePlaceholder::Owned(new AnyModuleHolder<M, Tensor>(std::move(module)));
  }
  template <class M, class Class, class Result, class... Args>
  static AnyModulePlaceholder::Owned make(std::shared_ptr<M> module, Result (Class::*)(Args...)) {
    static_assert(((!std::is_lvalue_reference_v<Args> ||
                    std::is_const_v<std::remove_reference_t<Args>>)&&...),
                  "Modules in an AnyModule must not take references. Use pointers instead.");
    static_assert(!std::is_void_v<Result>,
                  "AnyModule cannot hold modules that return void; return a dummy value.");
    return AnyModulePlaceholder::Owned(new AnyModuleHolder<M, Args...>(std::move(module)));
  }
  template <class M, class Class, class Result, class... Args>
  static AnyModulePlaceholder::Owned make(std::shared_ptr<M> module,
                                          Result (Class::*)(Args...) const) {
    return make(std::move(module), static_cast<Result (Class::*)(Args...)>(nullptr));
  }

  void check(const char* function) const {
    HEARTH_CHECK(content_, "Cannot call ", function, "() on an empty AnyModule");
  }
  template <class M>
  M& checked() const {
    check("get");
    HEARTH_CHECK(typeid(M) == content_->type(), "Attempted to cast module of type ",
                 demangle(content_->type().name()), " to type ", demangle(typeid(M).name()));
    return *static_cast<M*>(content_->ptr().get());
  }

  AnyModulePlaceholder::Owned content_;
};

/// A module and its name in a container.
class NamedAnyModule {
 public:
  template <class M>
  NamedAnyModule(std::string name, std::shared_ptr<M> module)
      : NamedAnyModule(std::move(name), AnyModule(std::move(module))) {}
  template <class M, std::enable_if_t<std::is_base_of_v<Module, std::decay_t<M>>, int> = 0>
  NamedAnyModule(std::string name, M&& module)
      : NamedAnyModule(std::move(name), AnyModule(std::forward<M>(module))) {}
  template <class M>
  NamedAnyModule(std::string name, const ModuleHolder<M>& holder)
      : NamedAnyModule(std::move(name), holder.ptr()) {}
  NamedAnyModule(std::string name, AnyModule module)
      : name_(std::move(name)), module_(std::move(module)) {}

  const std::string& name() const noexcept { return name_; }  ///< its key in the container
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace hearth::nn

/// Inside a module class: declares the default arguments of its forward() to Sequential and
/// AnyModule, by position from 0: `FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2)})`.
#define FORWARD_HAS_DEFAULT_ARGS(...) HEARTH_DEFAULT_ARGS_(, override, __VA_ARGS__)

/// FORWARD_HAS_DEFAULT_ARGS in two parts, for fast compilation: HEARTH_DECLARE_DEFAULT_ARGS inside
/// the class and `HEARTH_DEFINE_DEFAULT_ARGS(NameImpl, {1, AnyValue(2)})` in its source file.
#define HEARTH_DECLARE_DEFAULT_ARGS                                   \
  bool _forward_has_default_args() override;                          \
  unsigned int _forward_num_required_args() override;                 \
  std::vector<::hearth::nn::AnyValue> _forward_populate_default_args( \
      std::vector<::hearth::nn::AnyValue>&& arguments) override;
#define HEARTH_DEFINE_DEFAULT_ARGS(Class, ...) HEARTH_DEFAULT_ARGS_(Class::, , __VA_ARGS__)

#define HEARTH_DEFAULT_ARGS_(scope, specifier, ...)                                  \
  bool scope _forward_has_default_args() specifier { return true; }                  \
  unsigned int scope _forward_num_required_args() specifier {                        \
    return ::hearth::nn::detail::DefaultArgs{__VA_ARGS__}.front().first;             \
  }                                                                                  \
  std::vector<::hearth::nn::AnyValue> scope _forward_populate_default_args(          \
      std::vector<::hearth::nn::AnyValue>&& arguments) specifier {                   \
    return ::hearth::nn::detail::with_defaults(std::move(arguments), {__VA_ARGS__}); \
  }
