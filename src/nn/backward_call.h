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

/// The backward hooks of one call of a module: the hooks that were registered at the time of the
/// call. Two identity nodes, one on the call's arguments and one on its results, run the hooks in
/// the backward pass.
class BackwardCall : public std::enable_shared_from_this<BackwardCall> {
 public:
  using Gradients = std::vector<Tensor>;
  BackwardCall(Module& module, const std::shared_ptr<HookTable>& table);
  void watch_arguments(std::vector<AnyValue>& arguments);
  void watch_results(const std::vector<Tensor*>& results, const std::type_info& type);

 private:
  /// The tensors in a list of values: the number of values and, if any tensor requires a gradient
  /// and gradients are recorded, the indices of the tensors.
  struct TensorIndices {
    size_t count = 0;
    std::optional<std::vector<size_t>> indices;
    Gradients spread(const Gradients& gradients) const;
    Gradients gather(const Gradients& value_gradients) const;
  };

  static autograd::NodePtr watch(const std::vector<Tensor*>& values, TensorIndices& indices);
  Gradients on_results(const Gradients& gradients);
  Gradients on_arguments(const Gradients& gradients);
  void run_without_arguments(const Gradients& grad_outputs);
  Module& module() const;

  Module& module_;
  std::shared_ptr<Module> owner_;      // keeps the module alive; null if no shared_ptr owns it
  std::weak_ptr<HookTable> lifetime_;  // expires with the module if owner_ is null
  HookTable::List<BackwardPreHook> pre_hooks_;
  HookTable::List<BackwardHook> hooks_;
  TensorIndices arguments_, results_;
  std::mutex mutex_;                       // threads may run the same graph
  std::optional<Gradients> grad_outputs_;  // from on_results() for on_arguments()
};

}  // namespace hearth::nn::detail
