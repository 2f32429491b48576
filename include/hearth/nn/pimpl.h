#pragma once

#include <iosfwd>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "hearth/nn/run_module.h"

namespace hearth::nn {

namespace detail {
/// Whether T is, or derives from, the holder of Contained.
template <class T, class Contained>
inline constexpr bool is_holder_of = std::is_base_of_v<ModuleHolder<Contained>, std::decay_t<T>>;
/// Whether T is nullptr or a shared pointer to Contained, from which no new module is created.
template <class T, class Contained>
inline constexpr bool is_pointer_to = std::is_same_v<std::decay_t<T>, std::nullptr_t> ||
                                      std::is_same_v<std::decay_t<T>, std::shared_ptr<Contained>>;
/// Whether M() compiles. If not, a member is declared as `Linear linear{nullptr};`.
template <class M>
concept MadeWithoutArguments = requires {
  new M();
};
/// `pointer` is the type of a pointer to the module.
[[noreturn]] HEARTH_API void fail_empty_holder(const std::type_info& pointer);
template <class M, class... Args>
using ForwardResult = decltype(std::declval<M&>().forward(std::declval<Args>()...));

/// Shared ownership of a module. Unlike a std::shared_ptr<M>, it costs no compile time where a
/// holder is only declared (docs/adr/0006-weight-of-the-umbrella.md).
template <class M>
class ModulePointer {
 public:
  ModulePointer() = default;
  ModulePointer(std::nullptr_t) {}
  ModulePointer(std::shared_ptr<M> module) : module_(std::move(module)) {}
  M* get() const noexcept { return static_cast<M*>(module_.get()); }
  M* operator->() const noexcept { return get(); }
  M& operator*() const noexcept { return *get(); }
  explicit operator bool() const noexcept { return module_ != nullptr; }
  bool operator==(std::nullptr_t) const noexcept { return module_ == nullptr; }
  bool operator==(const ModulePointer& other) const noexcept { return module_ == other.module_; }
  long use_count() const noexcept { return module_.use_count(); }
  void swap(ModulePointer& other) noexcept { module_.swap(other.module_); }
  operator std::shared_ptr<M>() const { return std::static_pointer_cast<M>(module_); }
  void reset() { module_.reset(); }

 private:
  std::shared_ptr<void> module_;
};
}  // namespace detail

/// Shared pointer to a module: Linear is the holder of LinearImpl. Copies share the module; calling
/// the holder calls forward().
template <class Contained>
class ModuleHolder : detail::ModuleHolderTag {
  /// Checked in a constraint, so that the compiler's error shows the caller's line.
  template <class... Args>
  static constexpr bool kMakesModule = requires {
    new Contained(std::declval<Args>()...);
  };

 public:
  using ContainedType = Contained;
  using Impl = Contained;

  ModuleHolder()  // for a module that requires arguments, write `Linear linear{nullptr};`
      requires detail::MadeWithoutArguments<Contained> : impl_(std::make_shared<Contained>()) {}
  ModuleHolder(std::nullptr_t) {}
  /// (A template, so that nullptr does not instantiate the shared pointer.)
  template <class M>
  requires std::is_convertible_v<M*, Contained*> ModuleHolder(std::shared_ptr<M> module)
      : impl_(std::shared_ptr<Contained>(std::move(module))) {}
  /// Creates a module from the arguments of one of its constructors.
  template <class Head, class... Tail>
  requires((sizeof...(Tail) > 0 ||
            !(detail::is_holder_of<Head, Contained> || detail::is_pointer_to<Head, Contained>)) &&
           kMakesModule<Head, Tail...>)  //
      explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(std::shared_ptr<Contained>(
            new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...))) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  bool is_empty() const noexcept { return impl_ == nullptr; }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  /// The shared pointer; throws if the holder is empty.
  std::shared_ptr<Contained> ptr() const {
    check_not_empty();
    return impl_;
  }
  /// The module; throws if the holder is empty.
  Contained* get() {
    check_not_empty();
    return impl_.get();
  }
  const Contained* get() const {
    check_not_empty();
    return impl_.get();
  }

  /// Calls forward(args…) and the module's hooks.
  template <class... Args, class M = Contained>
  detail::ForwardResult<M, Args...> operator()(Args&&... args) {
    return call_forward(*get(), std::forward<Args>(args)...);
  }
  template <class Arg>
  auto operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }

 protected:
  detail::ModulePointer<Contained> impl_;

 private:
  void check_not_empty() const {
    if (!impl_) [[unlikely]]
      detail::fail_empty_holder(typeid(Contained*));
  }
};

template <class Traits, class Contained>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                             const ModuleHolder<Contained>& module) {
  return stream << *module;
}
}  // namespace hearth::nn

/// Defines `Name`, the holder of ImplType. (Its default constructor is a template, so that the
/// compiler's error shows the caller's line.)
#define HEARTH_MODULE_IMPL(Name, ImplType)                         \
  class Name : public ::hearth::nn::ModuleHolder<ImplType> {       \
   public:                                                         \
    using ::hearth::nn::ModuleHolder<ImplType>::ModuleHolder;      \
    template <class I_ = ImplType>                                 \
    requires ::hearth::nn::detail::MadeWithoutArguments<I_> Name() \
        : ::hearth::nn::ModuleHolder<I_>() {}                      \
    using Impl [[maybe_unused]] = ImplType;                        \
  }
/// Defines `Name`, the holder of NameImpl. (An alias, because a class of its own takes as long to
/// compile as the module.)
#define HEARTH_MODULE(Name) using Name = ::hearth::nn::ModuleHolder<Name##Impl>
