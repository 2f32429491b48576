#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/named_scope.h"
#include "hearth/nn/module.h"

namespace hearth::nn {

namespace detail {

class BackwardCall;  // the backward hooks of one call

/// One call of a module's forward(): opens the module's scope, runs its hooks, adds its name to
/// errors.
class HEARTH_API ModuleCall {
 public:
  explicit ModuleCall(const Module& module);
  static bool has_hooks(const Module& module) { return static_cast<bool>(module.hooks_); }
  /// Runs the hooks before forward(); returns null if there are no backward hooks.
  std::shared_ptr<BackwardCall> before(std::vector<AnyValue>& arguments) const;
  /// Runs the hooks after forward().
  void after(const std::vector<AnyValue>& arguments, AnyValue& result) const;
  /// Replaces the result's tensors by tensors whose gradients go to the backward hooks. An entry of
  /// `results` is null where the result has no tensor; `type` is the result's, for a warning.
  static void watch(BackwardCall& backward, const std::vector<Tensor*>& results,
                    const std::type_info& type);
  /// Adds the module's path to the error unless a submodule did so.
  void explain(Error& error) const;

 private:
  Module& module_;
  NamedScope scope_;
};

/// Whether an AnyValue can hold a T: it is copyable and neither an array nor a function.
template <class T>
inline constexpr bool can_be_seen_by_hooks = std::is_copy_constructible_v<std::decay_t<T>>&&
    std::is_same_v<std::decay_t<T>, std::remove_cvref_t<T>>;

template <class M, class Body, class... Args>
decltype(auto) call_body(M& module, Body&& body, Args&&... args) {
  if constexpr (std::is_member_function_pointer_v<std::decay_t<Body>>)
    return (module.*body)(std::forward<Args>(args)...);
  else
    return std::forward<Body>(body)(std::forward<Args>(args)...);
}

/// Argument `index`, which must have the type A.
template <class A>
A&& checked_argument(std::vector<AnyValue>& arguments, size_t index) {
  using Value = std::decay_t<A>;
  Value* value = arguments[index].try_get<Value>();
  HEARTH_CHECK(value, "Expected argument #", index, " to be of type ", demangle(typeid(A).name()),
               ", but received value of type ", demangle(arguments[index].type_info().name()));
  return static_cast<A&&>(*value);
}

/// checked_argument() without moving from the stored value, which forward hooks see afterwards.
template <class A>
A kept_argument(std::vector<AnyValue>& arguments, size_t index) {
  return static_cast<A>(checked_argument<std::decay_t<A>&>(arguments, index));
}

/// Pointer to the tensor in a part of a result, or null.
template <class T>
Tensor* tensor_of(T& part) {
  if constexpr (std::is_same_v<T, Tensor>)
    return &part;
  else if constexpr (std::is_same_v<T, std::optional<Tensor>>)
    return part ? &*part : nullptr;
  else
    return nullptr;
}

/// The parts of a result for backward hooks: a tensor, or the elements of a tuple or of a list of
/// tensors. Empty for other types.
template <class R>
std::vector<Tensor*> parts_of(R& result) {
  if constexpr (requires { std::tuple_size<R>::value; }) {
    return std::apply([](auto&... part) { return std::vector<Tensor*>{tensor_of(part)...}; },
                      result);
  } else if constexpr (std::is_same_v<R, std::vector<Tensor>>) {
    std::vector<Tensor*> parts;
    for (Tensor& tensor : result) parts.push_back(&tensor);
    return parts;
  } else if constexpr (std::is_same_v<R, Tensor> || std::is_same_v<R, std::optional<Tensor>>) {
    return {tensor_of(result)};
  } else {
    return {};
  }
}

template <class M, class Body, class... Args>
[[gnu::noinline]] auto run_with_hooks(const ModuleCall& call, M& module, Body&& body,
                                      Args&&... args)
    -> decltype(call_body(module, std::forward<Body>(body), std::forward<Args>(args)...)) {
  using Result = decltype(call_body(module, std::forward<Body>(body), std::forward<Args>(args)...));
  if constexpr ((can_be_seen_by_hooks<Args> && ...) &&
                (std::is_void_v<Result> || can_be_seen_by_hooks<Result>)) {
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Args));
    (values.emplace_back(AnyValue(std::forward<Args>(args))), ...);
    const std::shared_ptr<BackwardCall> backward = call.before(values);
    HEARTH_CHECK(values.size() == sizeof...(Args), "A forward pre-hook left ", values.size(),
                 " argument(s) of ", sizeof...(Args));
    const auto invoke = [&]<size_t... I>(std::index_sequence<I...>)->Result {
      return call_body(module, std::forward<Body>(body), kept_argument<Args>(values, I)...);
    };
    constexpr auto indices = std::index_sequence_for<Args...>{};
    if constexpr (std::is_void_v<Result>) {
      invoke(indices);
      AnyValue nothing{std::tuple<>()};
      call.after(values, nothing);
      if (backward) ModuleCall::watch(*backward, {}, typeid(void));
    } else {
      // If forward() returns a reference, hooks see a copy of its target.
      Result output = invoke(indices);
      AnyValue result{std::as_const(output)};
      call.after(values, result);
      if constexpr (std::is_reference_v<Result>) {
        HEARTH_CHECK(!backward, "Backward hooks need a forward() that returns no reference");
        return static_cast<Result>(output);
      } else {
        std::decay_t<Result> seen = result.get<std::decay_t<Result>>();
        if (backward) ModuleCall::watch(*backward, parts_of(seen), typeid(seen));
        return seen;
      }
    }
  } else {
    hearth::detail::fail<Error>("Hooks see only arguments and results that can be copied");
  }
}

/// Runs forward(), or its body, inside a new ModuleCall.
template <class M, class Body, class... Args>
decltype(auto) enter_module(M& module, Body&& body, Args&&... args) {
  const ModuleCall call(module);
  try {
    if (ModuleCall::has_hooks(module)) [[unlikely]]
      return run_with_hooks(call, module, std::forward<Body>(body), std::forward<Args>(args)...);
    return call_body(module, std::forward<Body>(body), std::forward<Args>(args)...);
  } catch (Error& error) {
    call.explain(error);
    throw;
  }
}

}  // namespace detail

/// The implementation of every forward() of nn's modules: opens the module's scope, so that errors
/// name the module, runs its hooks, and calls `body`, a function or a member of the module. If a
/// holder, Sequential or AnyModule opened the scope already, run_module only calls the body.
template <class M, class Body, class... Args>
decltype(auto) run_module(M& module, Body&& body, Args&&... args) {
  if (NamedScope::is_innermost(static_cast<const Module*>(&module)))
    return detail::call_body(module, std::forward<Body>(body), std::forward<Args>(args)...);
  return detail::enter_module(module, std::forward<Body>(body), std::forward<Args>(args)...);
}

/// Calls module.forward(args…) in the module's scope and with its hooks, as holders do.
template <class M, class... Args>
decltype(auto) call_forward(M& module, Args&&... args) {
  const auto forward = [&module](auto&&... values) -> decltype(auto) {
    return module.forward(std::forward<decltype(values)>(values)...);
  };
  if constexpr (std::is_base_of_v<Module, M>)
    return detail::enter_module(module, forward, std::forward<Args>(args)...);
  else
    return forward(std::forward<Args>(args)...);
}

}  // namespace hearth::nn
