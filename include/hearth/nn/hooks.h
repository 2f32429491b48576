#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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
/// Receives a copy of the dictionary, which it may change, and the path of the module's tensors.
using LoadStateDictPreHook = std::function<void(
    Module& module, OrderedDict<std::string, Tensor>& state, const std::string& path)>;

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
  explicit operator bool() const { return table_ && has_any(); }
  HookTable& table();
  const std::shared_ptr<HookTable>& pointer() const { return table_; }  ///< may be null

 private:
  bool has_any() const;
  std::shared_ptr<HookTable> table_;
};
}  // namespace detail

/// Removes a hook.
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
