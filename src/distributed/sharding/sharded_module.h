#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distributed/sharding/sharded_params.h"
#include "hearth/distributed/fully_shard.h"
#include "hearth/nn/hooks.h"

namespace hearth::distributed {

class ShardedModule;

/// The state that the sharded modules inside one outermost module share.
struct ShardedTree {
  using Members = std::vector<std::weak_ptr<ShardedModule>>;
  void begin_forward();
  void end_forward();
  void finish_at_end_of_backward(const std::shared_ptr<ShardedTree>& self);
  /// The member that ran next at this point of the root's previous forward(); null if unknown.
  std::shared_ptr<ShardedModule> expected_next() const;
  /// Begins to reduce the gradients, after those of the previous member have arrived.
  void reduce(const std::shared_ptr<ShardedParams>& params);

  std::weak_ptr<ShardedModule> root;
  Members members;                             // the root and all sharded modules inside it
  Members order, former_order;                 // of the calls of forward()
  std::weak_ptr<ShardedModule> last_recorded;  // the member whose call backward reaches first
  int64_t backward_pass = -1;                  // the pass whose end is awaited
  std::weak_ptr<ShardedParams> reducing;

 private:
  void finish_backward();
};

/// A module to which fully_shard was applied: its parameters, and the hooks that gather and free
/// them and reduce their gradients.
class ShardedModule : public std::enable_shared_from_this<ShardedModule> {
 public:
  ShardedModule(const nn::Module& module, std::shared_ptr<ShardedParams> params,
                const FullyShardOptions& options, ShardedTree::Members inside);
  /// The sharded module of a module, or null.
  static std::shared_ptr<ShardedModule> find(const nn::Module& module);
  void register_hooks(nn::Module& module);

  void post_backward();     ///< begins to reduce the gradients, and frees the gathered parameters
  void end_calls();         ///< post_backward() at the end of a pass, even if calls still run
  void finish_backward();   ///< completes the gradients of the shards
  void abandon_backward();  ///< after an error

  /// This and, with `recurse`, all sharded modules inside it.
  std::vector<std::shared_ptr<ShardedModule>> members(bool recurse);
  ShardedParams& params() const { return *params_; }

  bool requires_gradient_sync = true, reshard_after_backward = true;
  std::optional<bool> reshard_after_forward;

 private:
  /// A call of forward().
  struct Call {
    std::weak_ptr<ShardedModule> before;  // the module whose recorded call was the previous one
    int64_t backward_pass = -1;           // the pass that runs this call's backward
    size_t num_known = 0;                 // gradients of arguments so far
  };
  void pre_forward(const nn::Module& module, std::vector<nn::AnyValue>& arguments);
  void post_forward(nn::AnyValue& result);
  void pre_backward(Call& call);
  void become_root();
  bool is_root() const;
  void prefetch_next() const;
  void watch_arguments(const std::vector<Tensor>& arguments);
  void watch_results(const std::vector<Tensor>& results);
  bool should_reshard(bool knows_results, bool needs_backward) const;

  const nn::Module* const module_;  // only compared
  std::shared_ptr<ShardedParams> params_;
  MixedPrecisionPolicy policy_;
  ShardedTree::Members inside_;
  std::shared_ptr<ShardedTree> tree_;  // null until the first forward()
  std::shared_ptr<Call> call_;         // the last one
  int running_calls_ = 0;              // calls whose backward has begun and not ended
};

}  // namespace hearth::distributed
