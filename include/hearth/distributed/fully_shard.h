#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hearth/arg.h"
#include "hearth/distributed/process_group.h"
#include "hearth/nn/module.h"

/// Modules whose parameters, gradients and optimizer state are divided among the ranks, as by
/// torch.distributed.fsdp.fully_shard.
namespace hearth::distributed {

class ShardedModule;

/// The dtypes of a fully sharded module's computation; the shards keep the parameters' dtype.
struct HEARTH_API MixedPrecisionPolicy {
  /// The dtype of the gathered parameters and of forward()'s arguments; nullopt: unchanged.
  HEARTH_ARG(std::optional<ScalarType>, param_dtype);
  /// The dtype in which gradients are accumulated and reduced; nullopt: the shards' dtype.
  HEARTH_ARG(std::optional<ScalarType>, reduce_dtype);
  /// The dtype of the floating-point tensors that forward() returns; nullopt: unchanged.
  HEARTH_ARG(std::optional<ScalarType>, output_dtype);
  /// Whether forward() receives floating-point tensors in param_dtype.
  HEARTH_ARG(bool, cast_forward_inputs) = true;
};

/// Options of fully_shard, with Python's names; process_group stands for Python's mesh.
struct HEARTH_API FullyShardOptions {
  /// The ranks that share the parameters; null: the default group.
  HEARTH_ARG(ProcessGroupPtr, process_group);
  /// Whether the gathered parameters are freed after forward() and gathered again for backward; by
  /// default true, except for the outermost module.
  HEARTH_ARG(std::optional<bool>, reshard_after_forward);
  HEARTH_ARG(MixedPrecisionPolicy, mp_policy);
  /// Parameters that every rank keeps whole.
  HEARTH_ARG(std::vector<Tensor>, ignored_params);
};

/// A module to which fully_shard was applied. Copies refer to the same module.
class HEARTH_API FSDPModule {
 public:
  /// Gathers the parameters of this module, except those of submodules with a fully_shard of their
  /// own.
  void unshard();
  void reshard();  ///< frees the gathered parameters
  /// Whether backward reduces gradients. If not, each rank accumulates whole gradients until the
  /// next backward that reduces them.
  void set_requires_gradient_sync(bool requires_gradient_sync, bool recurse = true);
  void set_reshard_after_forward(bool reshard_after_forward, bool recurse = true);
  void set_reshard_after_backward(bool reshard_after_backward, bool recurse = true);
  /// The norm of all gradients of the module and its submodules, over all ranks.
  double get_total_norm(double norm_type = 2.0) const;
  /// Scales the gradients so that get_total_norm() is at most max_norm; returns the former norm.
  double clip_grad_norm_(double max_norm, double norm_type = 2.0, bool error_if_nonfinite = false);

  explicit FSDPModule(std::shared_ptr<ShardedModule> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<ShardedModule> state_;
};

/// Divides the module's parameters among the ranks, except those of submodules that are already
/// divided: apply it to submodules first. Each rank keeps a block of rows (dimension 0) of each
/// parameter. Before forward() and after backward(), module.parameters() are these blocks, and an
/// optimizer trains them; module.load_state_dict() also takes whole parameters. All ranks must make
/// the call, and should have equal parameters before it. Modules with shards cannot be cloned.
///
/// forward() must be called through a holder, a Sequential, an AnyModule or `nn::call_forward`,
/// which run hooks. The first such call after fully_shard() must be of the outermost module.
HEARTH_API FSDPModule fully_shard(nn::Module& module, const FullyShardOptions& options = {});
/// fully_shard() of the module of a holder or of another pointer.
template <class Pointer>
requires requires(const Pointer& pointer) {
  { *pointer } -> std::convertible_to<const nn::Module&>;
}
FSDPModule fully_shard(const Pointer& module, const FullyShardOptions& options = {}) {
  return fully_shard(const_cast<nn::Module&>(static_cast<const nn::Module&>(*module)), options);
}

/// The FSDPModule of a module; throws if fully_shard was not applied to it.
HEARTH_API FSDPModule fsdp_module(const nn::Module& module);

}  // namespace hearth::distributed
