#pragma once

#include <iosfwd>
#include <memory>
#include <type_traits>
#include <utility>

#include "hearth/nn/run_module.h"

namespace hearth::nn {

namespace detail {
/// Whether T is, or derives from, the holder of Contained.
template <class T, class Contained>
inline constexpr bool is_holder_of = std::is_base_of_v<ModuleHolder<Contained>, std::decay_t<T>>;
template <class M, class... Args>
using ForwardResult = decltype(std::declval<M&>().forward(std::declval<Args>()...));
}  // namespace detail

/// A module by reference: Linear is the holder of LinearImpl. Copies share the module; calling the
/// holder calls forward().
template <class Contained>
class ModuleHolder : detail::ModuleHolderTag {
 public:
  using ContainedType = Contained;

  ModuleHolder() : impl_(make_default()) {
    static_assert(std::is_default_constructible_v<Contained>,
                  "This module has no default constructor. Use `= nullptr` for an empty holder "
                  "(`Linear linear = nullptr;` instead of `Linear linear;`).");
  }
  ModuleHolder(std::nullptr_t) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}
  /// Makes a new module from the arguments.
  template <
      class Head, class... Tail,
      class = std::enable_if_t<!(detail::is_holder_of<Head, Contained> && sizeof...(Tail) == 0)>>
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  bool is_empty() const noexcept { return impl_ == nullptr; }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  const std::shared_ptr<Contained>& ptr() const {
    check_not_empty();
    return impl_;
  }
  Contained* get() {
    check_not_empty();
    return impl_.get();
  }
  const Contained* get() const {
    check_not_empty();
    return impl_.get();
  }

  /// forward(args…), with the module's hooks.
  template <class... Args, class M = Contained>
  detail::ForwardResult<M, Args...> operator()(Args&&... args) {
    return call_forward(*get(), std::forward<Args>(args)...);
  }
  template <class Arg>
  auto operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }

 protected:
  std::shared_ptr<Contained> impl_;

 private:
  static std::shared_ptr<Contained> make_default() {
    if constexpr (std::is_default_constructible_v<Contained>)
      return std::make_shared<Contained>();
    else
      return nullptr;
  }
  void check_not_empty() const { HEARTH_CHECK(impl_, "Accessing empty ModuleHolder"); }
};

template <class Traits, class Contained>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                             const ModuleHolder<Contained>& module) {
  return stream << *module;
}
}  // namespace hearth::nn

/// Declares `Name`, the holder of ImplType.
#define HEARTH_MODULE_IMPL(Name, ImplType)                    \
  class Name : public ::hearth::nn::ModuleHolder<ImplType> {  \
   public:                                                    \
    using ::hearth::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl [[maybe_unused]] = ImplType;                   \
  }
/// Declares `Name`, the holder of NameImpl.
#define HEARTH_MODULE(Name) HEARTH_MODULE_IMPL(Name, Name##Impl)
