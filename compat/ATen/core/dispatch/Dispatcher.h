#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "c10/core/DispatchKeySet.h"
#include "c10/core/SymInt.h"
#include "hearth/ivalue_conversions.h"
#include "hearth/operator_registry.h"

// Calls of registered operators: findSchemaOrThrow("my::op", "").typed<F>().call(arguments…).
namespace c10 {

namespace detail {

// A SymInt is a number, so kernels for int64_t and for SymInt have one type.
template <class T>
struct WithoutSymInt {
  using type = T;
};
#define HEARTH_WITHOUT_SYM_INT(From, To) \
  template <>                            \
  struct WithoutSymInt<From> {           \
    using type = To;                     \
  }
HEARTH_WITHOUT_SYM_INT(SymInt, int64_t);
HEARTH_WITHOUT_SYM_INT(const SymInt&, int64_t);
HEARTH_WITHOUT_SYM_INT(std::optional<SymInt>, std::optional<int64_t>);
HEARTH_WITHOUT_SYM_INT(SymIntArrayRef, IntArrayRef);
#undef HEARTH_WITHOUT_SYM_INT
template <class T>
using without_sym_int = typename WithoutSymInt<T>::type;

template <class T>
std::optional<int64_t> as_ints(const std::optional<SymInt>& value) {
  return value ? value->maybe_as_int() : std::nullopt;
}
template <class T>
int64_t as_ints(const SymInt& value) {
  return value.expect_int();
}
template <class T>
IntArrayRef as_ints(SymIntArrayRef values) {
  return asIntArrayRefUnchecked(values);
}
/// Passes an argument on as a T, whose SymInts may become numbers or numbers SymInts.
template <class T, class Given>
auto converted(Given&& value) -> std::conditional_t<std::is_same_v<T, const SymInt&>, SymInt, T> {
  if constexpr (std::is_same_v<T, const SymInt&>)
    return value;
  else if constexpr (std::is_same_v<T, SymIntArrayRef> &&
                     std::is_same_v<std::decay_t<Given>, IntArrayRef>)
    return fromIntArrayRefUnchecked(value);
  else if constexpr (std::is_same_v<T, without_sym_int<Given>> && !std::is_same_v<T, Given>)
    return as_ints<T>(value);
  else
    return static_cast<T>(std::forward<Given>(value));
}

/// A kernel whose type is known.
template <class Result, class... Args>
class TypedKernel : public OperatorKernel {
 public:
  TypedKernel() : OperatorKernel(typeid(Result(Args...))) {}
  virtual Result call(DispatchKeySet keys, Args... args) const = 0;
};

inline void add_keys(DispatchKeySet& keys, const Tensor& tensor) { keys = keys | tensor.key_set(); }
template <class T>
void add_keys(DispatchKeySet&, const T&) {}
template <class T>
void add_keys(DispatchKeySet& keys, const std::optional<T>& value) {
  if (value) add_keys(keys, *value);
}
inline void add_keys(DispatchKeySet& keys, const TensorList& tensors) {
  for (const Tensor& tensor : tensors) add_keys(keys, tensor);
}
template <class T>
void add_keys(DispatchKeySet& keys, const std::vector<T>& values) {
  if constexpr (!std::is_arithmetic_v<T>)
    for (const T& value : values) add_keys(keys, value);
}
inline void add_keys(DispatchKeySet& keys, const ValueList<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) add_keys(keys, tensor);
}
inline void add_keys(DispatchKeySet& keys, const ValueList<std::optional<Tensor>>& tensors) {
  for (const std::optional<Tensor>& tensor : tensors) add_keys(keys, tensor);
}

}  // namespace detail

template <class Signature>
class TypedOperatorHandle;

/// A registered operator.
class OperatorHandle {
 public:
  explicit OperatorHandle(RegisteredOperator& op) : op_(&op) {}
  const OperatorName& operator_name() const { return op_->name(); }
  bool hasSchema() const { return op_->is_defined(); }
  bool hasKernelForDispatchKey(DispatchKey key) const { return op_->has_kernel(key); }
  /// The operator as a function; throws if a kernel has another type.
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const {
    return TypedOperatorHandle<Signature>(*op_);
  }

 protected:
  RegisteredOperator* op_;
};

/// A registered operator whose type is known.
template <class Result, class... Args>
class TypedOperatorHandle<Result(Args...)> : public OperatorHandle {
 public:
  explicit TypedOperatorHandle(RegisteredOperator& op) : OperatorHandle(op) {
    op.check_signature(typeid(Result(detail::without_sym_int<Args>...)));
  }
  /// Calls the kernel for the tensors among the arguments.
  Result call(Args... args) const {
    DispatchKeySet keys;
    (detail::add_keys(keys, args), ...);
    return redispatch(active_keys(keys), std::forward<Args>(args)...);
  }
  Result operator()(Args... args) const { return call(std::forward<Args>(args)...); }
  /// Calls the kernel for these keys.
  Result redispatch(DispatchKeySet keys, Args... args) const {
    using Kernel = detail::TypedKernel<Result, detail::without_sym_int<Args>...>;
    const std::shared_ptr<OperatorKernel> kernel = op_->kernel_for(keys);
    return static_cast<const Kernel&>(*kernel).call(
        keys, detail::converted<detail::without_sym_int<Args>>(std::forward<Args>(args))...);
  }
};

/// The registered operators.
class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher instance;
    return instance;
  }
  std::optional<OperatorHandle> findOp(const OperatorName& name) const {
    RegisteredOperator* op = RegisteredOperator::find(name);
    return op ? std::optional(OperatorHandle(*op)) : std::nullopt;
  }
  std::optional<OperatorHandle> findSchema(const OperatorName& name) const {
    const std::optional<OperatorHandle> op = findOp(name);
    return op && op->hasSchema() ? op : std::nullopt;
  }
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const {
    const OperatorName full_name{name, overload_name};
    const std::optional<OperatorHandle> op = findOp(full_name);
    HEARTH_CHECK(
        op && op->hasSchema(), "Could not find schema for ", full_name, '.',
        op ? " but we found an implementation; did you forget to def() the operator?" : "");
    return *op;
  }
  std::vector<OperatorName> getAllOpNames() const { return RegisteredOperator::names(); }
};

}  // namespace c10
