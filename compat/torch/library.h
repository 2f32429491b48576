#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ATen/core/LegacyTypeDispatch.h"
#include "ATen/core/dispatch/Dispatcher.h"
#include "ATen/core/ivalue.h"
#include "c10/util/Exception.h"
#include "c10/util/Optional.h"
#include "torch/custom_class.h"

// Registration of operators:
//     TORCH_LIBRARY(my, m) { m.def("twice(Tensor x) -> Tensor"); }
//     TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("twice", twice_cpu); }
// A schema gives an operator its name and must have LibTorch's grammar. Its types and default
// values are otherwise ignored: the types of the C++ functions are those of the operator.

namespace c10::detail {

/// The kernel that calls a function object; with `TakesKeys`, its first argument is the
/// DispatchKeySet of the call.
template <class F, bool TakesKeys, class Result, class... Args>
class FunctionKernel final : public TypedKernel<Result, without_sym_int<Args>...> {
 public:
  explicit FunctionKernel(F f) : f_(std::move(f)) {}
  Result call(DispatchKeySet keys, without_sym_int<Args>... args) const override {
    if constexpr (TakesKeys)
      return f_(keys, converted<Args>(std::forward<without_sym_int<Args>>(args))...);
    else
      return f_(converted<Args>(std::forward<without_sym_int<Args>>(args))...);
  }

 private:
  mutable F f_;
};

template <class F, class Result, class... Args>
std::shared_ptr<OperatorKernel> kernel_of(F f, std::type_identity<Result(Args...)>) {
  return std::make_shared<FunctionKernel<F, false, Result, Args...>>(std::move(f));
}
template <class F, class Result, class... Args>
std::shared_ptr<OperatorKernel> kernel_of(F f,
                                          std::type_identity<Result(DispatchKeySet, Args...)>) {
  return std::make_shared<FunctionKernel<F, true, Result, Args...>>(std::move(f));
}

/// The type of a call of a function pointer or function object.
template <class F>
struct CallType {};
template <class F>
requires requires { &F::operator(); }
struct CallType<F> : CallType<decltype(&F::operator())> {};
template <class Result, class... Args>
struct CallType<Result (*)(Args...)> : std::type_identity<Result(Args...)> {};
template <class Class, class Result, class... Args>
struct CallType<Result (Class::*)(Args...)> : std::type_identity<Result(Args...)> {};
template <class Class, class Result, class... Args>
struct CallType<Result (Class::*)(Args...) const> : std::type_identity<Result(Args...)> {};

}  // namespace c10::detail

namespace at {
/// Properties of operators for PyTorch's compilers.
enum class Tag { core, pt2_compliant_tag, needs_fixed_stride_order, flexible_layout, pointwise };
}  // namespace at

namespace torch {

/// A kernel to be registered, for the library's key or, from dispatch(), one of its own.
class CppFunction {
 public:
  template <class F>
  requires requires { typename c10::detail::CallType<std::decay_t<F>>::type; }
  CppFunction(F&& f)
      : kernel_(c10::detail::kernel_of(
            std::decay_t<F>(std::forward<F>(f)),
            std::type_identity<typename c10::detail::CallType<std::decay_t<F>>::type>())) {}
  /// Calls skip the key, as if it had no kernel.
  static CppFunction makeFallthrough() { return {}; }
  template <class F>
  static CppFunction makeFromUnboxedFunction(F* f) {
    return CppFunction(f);
  }
  CppFunction&& debug(std::string) && { return std::move(*this); }

 private:
  friend class Library;
  template <class F>
  friend CppFunction dispatch(c10::DispatchKey key, F&& f);
  CppFunction() = default;

  std::shared_ptr<c10::OperatorKernel> kernel_;
  std::optional<c10::DispatchKey> key_;
};

/// The function as a kernel for this key or device type.
template <class F>
CppFunction dispatch(c10::DispatchKey key, F&& f) {
  CppFunction function(std::forward<F>(f));
  function.key_ =
      key == c10::DispatchKey::CatchAll ? c10::DispatchKey::CompositeImplicitAutograd : key;
  return function;
}
template <class F>
CppFunction dispatch(c10::DeviceType device, F&& f) {
  return dispatch(device == c10::DeviceType::CPU           ? c10::DispatchKey::CPU
                  : device == c10::DeviceType::CUDA        ? c10::DispatchKey::CUDA
                  : device == c10::DeviceType::XPU         ? c10::DispatchKey::XPU
                  : device == c10::DeviceType::MPS         ? c10::DispatchKey::MPS
                  : device == c10::DeviceType::PrivateUse1 ? c10::DispatchKey::PrivateUse1
                                                           : c10::DispatchKey::Meta,
                  std::forward<F>(f));
}

/// The registrations of one TORCH_LIBRARY block; they end with the object.
class Library {
 public:
  using Kind = c10::OperatorLibrary::Kind;
  static constexpr Kind DEF = Kind::DEF, IMPL = Kind::IMPL, FRAGMENT = Kind::FRAGMENT;
  Library(Kind kind, std::string name_space, std::optional<c10::DispatchKey> key, const char* file,
          uint32_t line)
      : library_(kind, std::move(name_space), key, file, line) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Declares an operator: "name(Tensor x) -> Tensor".
  Library& def(const std::string& schema, const std::vector<at::Tag>& = {}) {
    library_.define(schema, false);
    return *this;
  }
  /// Declares an operator, for which a name suffices, and adds a kernel for all backends.
  Library& def(const std::string& name_or_schema, CppFunction f, const std::vector<at::Tag>& = {}) {
    library_.define(name_or_schema, true);
    return impl(name_or_schema.substr(0, name_or_schema.find('(')), std::move(f));
  }
  /// Adds a kernel for the block's key; without one, for all backends.
  Library& impl(const std::string& name, CppFunction f) {
    library_.add_kernel(name, f.key_, std::move(f.kernel_));
    return *this;
  }
  template <class Key, class F>
  Library& impl(const std::string& name, Key key, F&& f) {
    return impl(name, dispatch(key, std::forward<F>(f)));
  }
  Library& fallback(CppFunction f) {
    library_.add_fallback(f.kernel_);
    return *this;
  }
  Library& set_python_module(const char*, const char* = "") { return *this; }
  Library& impl_abstract_pystub(const char*, const char* = "") { return *this; }
  template <class Class>
  torch::class_<Class> class_(const std::string& name) {
    return torch::class_<Class>(library_.name_space(), name);
  }

 private:
  c10::OperatorLibrary library_;
};

namespace detail {

/// Runs a TORCH_LIBRARY block when the program or shared library starts.
struct TorchLibraryInit {
  TorchLibraryInit(Library::Kind kind, void (*init)(Library&), const char* name_space,
                   std::optional<c10::DispatchKey> key, const char* file, uint32_t line)
      : library(kind, name_space, key, file, line) {
    init(library);
  }
  Library library;
};

}  // namespace detail

}  // namespace torch

#define TORCH_FN(...) (__VA_ARGS__)
#define TORCH_SELECTIVE_NAME(name) (name)
#define TORCH_SELECTIVE_SCHEMA(schema) (schema)
#define TORCH_SELECTIVE_CLASS(name) (name)

#define HEARTH_TORCH_LIBRARY(kind, ns, key, m, init, variable)                                    \
  static void init(::torch::Library&);                                                            \
  static const ::torch::detail::TorchLibraryInit variable(::torch::Library::kind, &init, ns, key, \
                                                          __FILE__, __LINE__);                    \
  void init([[maybe_unused]] ::torch::Library& m)
#define HEARTH_TORCH_LIBRARY_NUMBERED(kind, ns, key, m, init, number)   \
  HEARTH_TORCH_LIBRARY(kind, ns, key, m, C10_CONCATENATE(init, number), \
                       C10_CONCATENATE(static_##init, number))
/// Declares the operators of a namespace. A program has at most one block for a namespace.
#define TORCH_LIBRARY(ns, m)                                                 \
  HEARTH_TORCH_LIBRARY(DEF, #ns, ::std::nullopt, m, TORCH_LIBRARY_init_##ns, \
                       TORCH_LIBRARY_static_init_##ns)
/// Declares further operators.
#define TORCH_LIBRARY_FRAGMENT(ns, m)                             \
  HEARTH_TORCH_LIBRARY_NUMBERED(FRAGMENT, #ns, ::std::nullopt, m, \
                                TORCH_LIBRARY_FRAGMENT_init_##ns##_, __COUNTER__)
/// Adds kernels for a DispatchKey.
#define TORCH_LIBRARY_IMPL(ns, key, m)                                 \
  HEARTH_TORCH_LIBRARY_NUMBERED(IMPL, #ns, ::c10::DispatchKey::key, m, \
                                TORCH_LIBRARY_IMPL_init_##ns##_##key##_, __COUNTER__)

namespace c10 {

/// The older way to register operators: RegisterOperators().op("my::twice", &twice).
class RegisterOperators {
 public:
  RegisterOperators() = default;
  template <class F>
  explicit RegisterOperators(const std::string& name, F&& f) {
    op(name, std::forward<F>(f));
  }
  template <class F>
  RegisterOperators&& op(const std::string& name_or_schema, F&& f) && {
    add(name_or_schema, std::forward<F>(f));
    return std::move(*this);
  }
  template <class F>
  RegisterOperators& op(const std::string& name_or_schema, F&& f) & {
    add(name_or_schema, std::forward<F>(f));
    return *this;
  }

 private:
  template <class F>
  void add(const std::string& name_or_schema, F&& f) {
    const std::string name_space = name_or_schema.substr(0, name_or_schema.find("::"));
    libraries_.push_back(std::make_shared<torch::Library>(torch::Library::FRAGMENT, name_space,
                                                          std::nullopt, "RegisterOperators", 0));
    libraries_.back()->def(name_or_schema, std::forward<F>(f));
  }
  std::vector<std::shared_ptr<torch::Library>> libraries_;
};

}  // namespace c10
namespace torch {
using c10::RegisterOperators;
}
