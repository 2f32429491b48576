#pragma once

#include <type_traits>
#include <utility>

namespace c10 {

template <class Signature>
class function_ref;

/// Refers to a function or a function object, which must outlive it.
template <class Result, class... Args>
class function_ref<Result(Args...)> {
 public:
  function_ref() = default;
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> &&
           std::is_invocable_r_v<Result, F&, Args...>) function_ref(F&& function)
      : object_((void*)&function), call_([](void* object, Args... args) -> Result {
          auto& target = *reinterpret_cast<std::remove_reference_t<F>*>(object);
          if constexpr (std::is_void_v<Result>)
            target(std::forward<Args>(args)...);
          else
            return target(std::forward<Args>(args)...);
        }) {}
  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }
  explicit operator bool() const { return call_; }

 private:
  void* object_ = nullptr;
  Result (*call_)(void*, Args...) = nullptr;
};

}  // namespace c10
