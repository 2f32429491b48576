#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <typeinfo>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/nn/any_value.h"
#include "nn/hook_table.h"

namespace hearth::nn::detail {

/// The backward hooks of one call of a module. An identity node around the tensors of the arguments
/// and another around those of the result call it in backward. It runs the hooks that were
/// registered at the time of the call.
class BackwardCall : public std::enable_shared_from_this<BackwardCall> {
 public:
  using Gradients = std::vector<Tensor>;
  BackwardCall(Module& module, const std::shared_ptr<HookTable>& table);
  void watch_arguments(std::vector<AnyValue>& arguments);
  void watch_results(const std::vector<Tensor*>& results, const std::type_info& type);

 private:
  /// A list of values: their number, and the positions of the tensors if any needs a gradient.
  struct Places {
    size_t count = 0;
    std::optional<std::vector<size_t>> tensors;
    Gradients spread(const Gradients& gradients) const;
    Gradients gather(const Gradients& all) const;
  };

  static autograd::NodePtr watch(const std::vector<Tensor*>& values, Places& places);
  Gradients on_results(const Gradients& gradients);
  Gradients on_arguments(const Gradients& gradients);
  void run_without_arguments(const Gradients& grad_outputs);
  Module& module() const;

  Module& module_;
  std::shared_ptr<Module> owner_;      // keeps the module; null if no shared pointer owns it
  std::weak_ptr<HookTable> lifetime_;  // expires with such a module
  HookTable::List<BackwardPreHook> before_;
  HookTable::List<BackwardHook> after_;
  Places arguments_, results_;
  std::mutex mutex_;  // threads may run the same graph
  std::optional<Gradients> grad_outputs_;
};

}  // namespace hearth::nn::detail
