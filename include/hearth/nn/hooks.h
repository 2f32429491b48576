#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/export.h"
#include "hearth/nn/any_value.h"
#include "hearth/ordered_dict.h"
#include "hearth/tensor.h"

namespace hearth::nn {

class Module;

/// Receives the arguments of forward() and may replace them by values of the same types.
using ForwardPreHook = std::function<void(Module& module, std::vector<AnyValue>& arguments)>;
/// Receives the arguments and the result of forward() and may replace the result.
using ForwardHook =
    std::function<void(Module& module, const std::vector<AnyValue>& arguments, AnyValue& result)>;
/// Receives a copy of the dictionary, which it may change, and the module's path in it.
using LoadStateDictPreHook = std::function<void(
    Module& module, OrderedDict<std::string, Tensor>& state, const std::string& path)>;

/// A hook of backward: a function of the module and of lists of gradients. It returns nothing, or a
/// replacement of the first list.
template <class... Gradients>
class GradientHook {
 public:
  using Result = std::optional<std::vector<Tensor>>;
  template <class Hook>
  requires std::is_invocable_v<Hook&, Module&, const Gradients&...> GradientHook(Hook hook) {
    if constexpr (std::is_void_v<std::invoke_result_t<Hook&, Module&, const Gradients&...>>)
      function_ = [hook = std::move(hook)](Module& module, const Gradients&... gradients) mutable {
        hook(module, gradients...);
        return Result();
      };
    else
      function_ = std::move(hook);
  }
  Result operator()(Module& module, const Gradients&... gradients) const {
    return function_(module, gradients...);
  }

 private:
  std::function<Result(Module&, const Gradients&...)> function_;
};
/// Receives grad_output: the gradients of the results of forward().
using BackwardPreHook = GradientHook<std::vector<Tensor>>;
/// Receives grad_input, the gradients of the arguments of forward(), and grad_output.
using BackwardHook = GradientHook<std::vector<Tensor>, std::vector<Tensor>>;

namespace detail {
struct HookTable;

/// A module's hooks; a null pointer until the first is registered. A copy has the same hooks in a
/// table of its own.
class HEARTH_API Hooks {
 public:
  Hooks() = default;
  Hooks(const Hooks& other);
  Hooks& operator=(const Hooks& other);
  ~Hooks() = default;
  /// Whether a call of the module runs hooks; a LoadStateDictPreHook does not count.
  explicit operator bool() const { return table_ && has_call_hooks(); }
  HookTable& table();
  const std::shared_ptr<HookTable>& pointer() const { return table_; }  ///< may be null

 private:
  bool has_call_hooks() const;
  std::shared_ptr<HookTable> table_;
};
}  // namespace detail

/// Identifies a registered hook, to remove it.
class HEARTH_API RemovableHandle {
 public:
  RemovableHandle() = default;
  RemovableHandle(std::weak_ptr<detail::HookTable> table, uint64_t id)
      : table_(std::move(table)), id_(id) {}
  void remove();  ///< does nothing if the hook or its module no longer exists

 private:
  std::weak_ptr<detail::HookTable> table_;
  uint64_t id_ = 0;
};

}  // namespace hearth::nn
