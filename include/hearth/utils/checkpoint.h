#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/autograd.h"
#include "hearth/error.h"
#include "hearth/ivalue.h"
#include "hearth/ordered_dict.h"
#include "hearth/owned_ptr.h"

// Activation checkpointing: a function's call saves only its inputs (and selected results) for
// backward, and backward recomputes the rest, as PyTorch does with use_reentrant=False.

namespace hearth::utils {

/// Thrown if a checkpointed function saves different tensors when it is recomputed.
class HEARTH_API CheckpointError : public Error {
 public:
  explicit CheckpointError(std::string message);
  CheckpointError(SourceLocation where, std::string message);
  ~CheckpointError() override;
};

/// The ops of a checkpointed function whose results are kept; all others are recomputed.
class HEARTH_API SelectiveCheckpoint {
 public:
  /// Whether to keep the result of an op ("addmm"). Called for each op that returns new tensors,
  /// except casts, copies and, with preserve_rng_state, random ops, which are always recomputed.
  using Policy = std::function<bool(const std::string& op, const Tensor& result)>;
  /// Keeps the results of these ops, or of ops inside them: "matmul", "conv2d", "gelu".
  SelectiveCheckpoint(std::vector<std::string> ops = matmuls());
  SelectiveCheckpoint(Policy keep);
  static std::vector<std::string> matmuls();  ///< the products of matrices
  /// Whether a kept result may be modified in place afterwards; the change is then seen by
  /// backward.
  HEARTH_ARG(bool, allow_cache_entry_mutation) = false;

 public:
  bool keeps(const std::string& op, const Tensor& result) const;  ///< by the list or the policy
  const std::vector<std::string>& ops() const { return ops_; }    ///< empty with a policy

 private:
  std::vector<std::string> ops_;
  Policy policy_;
};

/// Options of checkpoint(), with PyTorch's names and defaults.
struct HEARTH_API CheckpointOptions {
  /// Whether recomputing the function starts from the same states of the random generators.
  HEARTH_ARG(bool, preserve_rng_state) = true;
  /// Whether recomputing stops as soon as all tensors that backward reads exist.
  HEARTH_ARG(bool, early_stop) = true;
  /// Whether errors list the ops that saved tensors in both computations.
  HEARTH_ARG(bool, debug) = false;
  /// "default" compares the ops, sizes, dtypes and devices of saved tensors; "none" does not.
  HEARTH_ARG(std::string, determinism_check) = "default";
  /// If set, the results that are kept.
  HEARTH_ARG(std::optional<SelectiveCheckpoint>, selective);
};

/// During its lifetime, replaces the option early_stop of the checkpoints that this thread makes.
class HEARTH_API set_checkpoint_early_stop {
 public:
  explicit set_checkpoint_early_stop(bool enable);
  ~set_checkpoint_early_stop();
  set_checkpoint_early_stop(const set_checkpoint_early_stop&) = delete;
  set_checkpoint_early_stop& operator=(const set_checkpoint_early_stop&) = delete;

 private:
  std::optional<bool> former_;
};

/// During its lifetime, replaces the option debug of the checkpoints that this thread makes.
class HEARTH_API set_checkpoint_debug_enabled {
 public:
  explicit set_checkpoint_debug_enabled(bool enabled);
  ~set_checkpoint_debug_enabled();
  set_checkpoint_debug_enabled(const set_checkpoint_debug_enabled&) = delete;
  set_checkpoint_debug_enabled& operator=(const set_checkpoint_debug_enabled&) = delete;

 private:
  std::optional<bool> former_;
};

namespace detail {

/// During its lifetime, tensors that this thread saves for backward are not kept, but recomputed
/// when backward needs them.
class HEARTH_API CheckpointRegion {
 public:
  using Function = std::function<void(const std::vector<Tensor>& inputs)>;
  CheckpointRegion(const CheckpointOptions& options, const std::vector<Tensor>& inputs,
                   Function function);
  ~CheckpointRegion();
  CheckpointRegion(const CheckpointRegion&) = delete;
  CheckpointRegion& operator=(const CheckpointRegion&) = delete;
  void completed();  ///< the function has returned

 private:
  struct Guards;
  hearth::detail::OwnedPtr<Guards> guards_;
};

/// The type in which an argument is kept: its own type, or a vector for an ArrayRef.
template <class T>
struct KeptType {
  using type = T;
};
template <class T>
struct KeptType<ArrayRef<T>> {
  using type = std::vector<T>;
};
template <class T>
using Kept = typename KeptType<std::decay_t<T>>::type;

/// The argument as it is kept.
template <class T>
Kept<T> kept(const T& argument) {
  if constexpr (std::is_same_v<Kept<T>, std::decay_t<T>>)
    return argument;
  else
    return argument.vec();
}

/// Whether an argument is a tensor, or an optional, container or tuple of tensors and other values.
template <class T>
inline constexpr bool holds_tensors = std::is_same_v<T, Tensor> || std::is_same_v<T, IValue>;
template <class T>
inline constexpr bool holds_tensors<std::optional<T>> = holds_tensors<T>;
template <class T>
inline constexpr bool holds_tensors<std::vector<T>> = holds_tensors<T>;
template <class T, size_t n>
inline constexpr bool holds_tensors<std::array<T, n>> = holds_tensors<T>;
template <class T>
requires requires { typename T::mapped_type; }
inline constexpr bool holds_tensors<T> = holds_tensors<typename T::mapped_type>;
template <class Key, class Value>
inline constexpr bool holds_tensors<OrderedDict<Key, Value>> = holds_tensors<Value>;
template <class A, class B>
inline constexpr bool holds_tensors<std::pair<A, B>> = holds_tensors<A> || holds_tensors<B>;
template <class... T>
inline constexpr bool holds_tensors<std::tuple<T...>> = (holds_tensors<T> || ...);

/// Calls visit for each tensor in the value, which visit may replace. Lists, dicts and tuples in
/// the value are copied first, because IValues share them.
HEARTH_API void visit_ivalue(IValue& value, const std::function<void(Tensor&)>& visit);

/// Calls visit(tensor) for the tensors of an argument.
template <class T, class Visit>
void visit_tensors(T& value, const Visit& visit) {
  if constexpr (std::is_same_v<T, Tensor>) {
    visit(value);
  } else if constexpr (std::is_same_v<T, IValue>) {
    visit_ivalue(value, visit);
  } else if constexpr (holds_tensors<T> && requires { std::tuple_size<T>::value; }) {
    std::apply([&](auto&... part) { (visit_tensors(part, visit), ...); }, value);
  } else if constexpr (holds_tensors<T> && requires { value.has_value(); }) {
    if (value) visit_tensors(*value, visit);
  } else if constexpr (holds_tensors<T> && requires { typename T::mapped_type; }) {
    for (auto& [key, part] : value) visit_tensors(part, visit);
  } else if constexpr (holds_tensors<T> && requires { value.key_description(); }) {
    for (auto& item : value) visit_tensors(item.value(), visit);
  } else if constexpr (holds_tensors<T>) {
    for (auto& part : value) visit_tensors(part, visit);
  }
}

/// Calls layer(input), or layer.forward(input) if it is not a function.
template <class Layer>
Tensor call_layer(Layer& layer, const Tensor& input) {
  if constexpr (std::is_invocable_v<Layer&, const Tensor&>)
    return layer(input);
  else
    return layer.forward(input);
}

/// The number of layers in each of `segments` parts except the last, which has the rest.
HEARTH_API size_t layers_of_segment(size_t layers, int64_t segments);

}  // namespace detail

/// Calls fn(inputs…) and returns its result. Tensors that the call saves for backward are not kept:
/// when backward needs them, fn is called again, with the same inputs, autocast modes and random
/// numbers. fn and inputs that are not tensors are copied; objects that they refer to must exist
/// until backward. fn may not modify its inputs.
template <class F, class... Inputs>
auto checkpoint(const CheckpointOptions& options, F&& fn, Inputs&&... inputs)
    -> std::invoke_result_t<F&, Inputs...> {
  using Result = std::invoke_result_t<F&, Inputs...>;
  if (!GradMode::is_enabled()) return std::invoke(fn, std::forward<Inputs>(inputs)...);
  std::tuple<detail::Kept<Inputs>...> kept{detail::kept(inputs)...};
  std::vector<Tensor> tensors;
  detail::visit_tensors(kept,
                        [&](Tensor& tensor) { tensors.push_back(std::exchange(tensor, {})); });
  auto again = [copy = std::decay_t<F>(fn),
                kept = std::move(kept)](const std::vector<Tensor>& saved) {
    auto arguments = kept;
    auto next = saved.begin();
    detail::visit_tensors(arguments, [&](Tensor& tensor) { tensor = *next++; });
    auto function = copy;
    std::apply([&](auto&... part) { (void)std::invoke(function, part...); }, arguments);
  };
  detail::CheckpointRegion region(options, tensors, std::move(again));
  if constexpr (std::is_void_v<Result>) {
    std::invoke(fn, std::forward<Inputs>(inputs)...);
    region.completed();
  } else {
    Result result = std::invoke(fn, std::forward<Inputs>(inputs)...);
    region.completed();
    return result;
  }
}
/// checkpoint() with the default options.
template <class F, class... Inputs>
auto checkpoint(F&& fn, Inputs&&... inputs) -> std::invoke_result_t<F&, Inputs...> {
  return checkpoint(CheckpointOptions(), std::forward<F>(fn), std::forward<Inputs>(inputs)...);
}

/// Passes the input through all layers of a Sequential or a list, each of which takes and returns
/// one tensor. They are divided into `segments` parts, and all but the last are checkpointed.
template <class Layers>
Tensor checkpoint_sequential(const Layers& layers, int64_t segments, Tensor input,
                             const CheckpointOptions& options = {}) {
  if constexpr (requires { layers->begin(); }) {
    return checkpoint_sequential(*layers, segments, std::move(input), options);
  } else {
    using Layer = std::decay_t<decltype(*layers.begin())>;
    const std::vector<Layer> all(layers.begin(), layers.end());
    const auto run = [](std::vector<Layer> part, Tensor value) {
      for (Layer& layer : part) value = detail::call_layer(layer, value);
      return value;
    };
    const auto size = static_cast<std::ptrdiff_t>(detail::layers_of_segment(all.size(), segments));
    auto begin = all.begin();
    for (int64_t i = 1; i < segments; ++i, begin += size)
      input = checkpoint(options, run, std::vector<Layer>(begin, begin + size), input);
    return run(std::vector<Layer>(begin, all.end()), input);
  }
}

}  // namespace hearth::utils
