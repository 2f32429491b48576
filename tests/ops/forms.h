#pragma once

// Calls every form (function, method, in-place, out=) of every function in include/hearth/ops/*.inc
// with type-erased arguments.

#include <any>
#include <functional>
#include <random>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "hearth/operators.h"
#include "tests/support/op_table.h"

namespace hearth::testing {

using Erased = std::vector<std::any>;

enum class Kind { kFunction, kMethod, kInplace, kInplaceMethod, kOut };

struct ArgumentType {
  const std::type_info& info;
  std::any (*pick)(std::mt19937& random);  // a random value of this type
};

struct Declaration {
  const char* parameters;
  bool has_self;  // whether the declaring macro adds the parameter self
};

struct CallForm {
  std::string name;  // without the suffix _ or _out
  Kind kind = Kind::kFunction;
  size_t num_outputs = 0;                  // leading arguments of an out= form that it writes to
  std::vector<const ArgumentType*> types;  // of the other arguments
  Declaration declaration;
  std::function<Tensors(Erased&)> call;
};

std::vector<CallForm>& call_forms();

/// "Tensor::add_ of 3 arguments", for messages.
std::string describe(const CallForm& form);

/// Random arguments that the form is likely to accept, without those that it writes to.
Erased pick(const CallForm& form, std::mt19937& random);

/// A random argument of type T from a small pool; T{} for types that HEARTH_PICKED does not list.
template <class T>
T pick_value(std::mt19937&) {
  return T{};
}
#define HEARTH_PICKED(T) \
  template <>            \
  T pick_value<T>(std::mt19937 & random);
HEARTH_PICKED(Tensor)
HEARTH_PICKED(Scalar)
HEARTH_PICKED(int64_t)
HEARTH_PICKED(bool)
HEARTH_PICKED(double)
HEARTH_PICKED(ScalarType)
HEARTH_PICKED(NamedDtype)
HEARTH_PICKED(std::string_view)
HEARTH_PICKED(IntArrayRef)
HEARTH_PICKED(OptionalIntArrayRef)
HEARTH_PICKED(ArrayRef<double>)
HEARTH_PICKED(ArrayRef<Scalar>)
HEARTH_PICKED(TensorList)
HEARTH_PICKED(MemoryFormat)
HEARTH_PICKED(PaddingName)
#undef HEARTH_PICKED

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
std::any pick_any(std::mt19937& random) {
  if constexpr (kIsOptional<T>) {
    if (random() % 2) return T{};
    return T{pick_value<typename T::value_type>(random)};
  } else {
    return pick_value<T>(random);
  }
}

template <class T>
inline const ArgumentType kArgumentType{typeid(T), &pick_any<T>};

template <class R>
Tensors as_tensors(R&& result) {
  using T = std::remove_cvref_t<R>;
  if constexpr (std::is_same_v<T, Tensor>)
    return {result};
  else if constexpr (std::is_same_v<T, Tensors>)
    return result;
  else if constexpr (std::is_same_v<T, TensorAndList>) {
    Tensors all = std::get<1>(result);
    all.insert(all.begin(), std::get<0>(result));
    return all;
  } else if constexpr (requires { std::get<0>(result); })
    return std::apply([](const auto&... part) { return Tensors{part...}; }, result);
  else
    return {full({}, Scalar(double(result)), kDouble)};
}

template <class P>
P from_any(std::any& value) {
  return static_cast<P>(std::any_cast<std::remove_cvref_t<P>&>(value));
}

template <class F, class... A, size_t... i>
Tensors call_with(F f, Erased& arguments, std::index_sequence<i...>) {
  using R = decltype(f(from_any<A>(arguments[i])...));
  if constexpr (std::is_void_v<R>) {
    f(from_any<A>(arguments[i])...);
    return {};
  } else {
    return as_tensors(f(from_any<A>(arguments[i])...));
  }
}

/// The form of a free function, still without types and call; the kind follows from the name and
/// from the number of leading tensors that the function writes to.
CallForm function_form(std::string name, const Declaration& declaration, size_t num_outputs);
CallForm method_form(std::string name, const Declaration& declaration, bool returns_self);

template <class... A, class F>
void add_form(CallForm form, F f) {
  form.types = {&kArgumentType<std::remove_cvref_t<A>>...};
  form.types.erase(form.types.begin(), form.types.begin() + int64_t(form.num_outputs));
  form.call = [f](Erased& arguments) {
    return call_with<F, A...>(f, arguments, std::index_sequence_for<A...>{});
  };
  call_forms().push_back(std::move(form));
}

/// The number of leading parameters of type Tensor&.
template <class... A>
constexpr size_t leading_outputs() {
  size_t count = 0;
  bool leading = true;
  ((leading = leading && std::is_same_v<A, Tensor&>, count += leading), ...);
  return count;
}

/// Registers a free function.
template <class R, class... A>
bool add_function(std::string name, const Declaration& declaration, R (*f)(A...)) {
  add_form<A...>(function_form(std::move(name), declaration, leading_outputs<A...>()), f);
  return true;
}

/// Registers a method of Tensor.
template <class R, class... A>
bool add_method(std::string name, const Declaration& declaration, R (Tensor::*f)(A...) const) {
  const auto call = [f](const Tensor& self, A... a) -> R {
    return (self.*f)(std::forward<A>(a)...);
  };
  add_form<const Tensor&, A...>(
      method_form(std::move(name), declaration, std::is_same_v<R, Tensor&>), call);
  return true;
}

/// The type of a method of Tensor with the signature of a method of another class.
template <class F>
struct AsMethod;
template <class D, class R, class... A>
struct AsMethod<R (D::*)(A...) const> {
  using type = R (Tensor::*)(A...) const;
};

}  // namespace hearth::testing
