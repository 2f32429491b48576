#pragma once

#include <memory>
#include <vector>

#include "hearth/export.h"
#include "hearth/tensor.h"

/// Parameters of which each rank has only a part (a shard), for functions that need numbers of the
/// whole parameter, such as its gradient's norm.
namespace hearth {

/// The ranks that have the parts of a parameter.
class HEARTH_API ShardRanks {
 public:
  virtual ~ShardRanks() = default;
  /// Replaces a tensor by its sum or its maximum over the ranks. All ranks must call it, with the
  /// same sizes.
  virtual void sum(const Tensor& tensor) = 0;
  virtual void max(const Tensor& tensor) = 0;
};
using ShardRanksPtr = std::shared_ptr<ShardRanks>;

/// Registers a parameter as a shard, until the destructor.
class HEARTH_API ShardRegistration {
 public:
  ShardRegistration(const Tensor& parameter, ShardRanksPtr ranks);
  ~ShardRegistration();
  ShardRegistration(const ShardRegistration&) = delete;
  ShardRegistration& operator=(const ShardRegistration&) = delete;

 private:
  Tensor parameter_;
};

/// The ranks that have the parts of a parameter; null if this process has the whole parameter.
HEARTH_API ShardRanksPtr shard_ranks_of(const Tensor& parameter);
/// The ranks of all shards among the parameters, each once, in the order of the parameters.
HEARTH_API std::vector<ShardRanksPtr> shard_ranks_of(const std::vector<Tensor>& parameters);
/// Throws if a parameter is a shard: `user` computes with whole parameters.
HEARTH_API void check_whole(const char* user, const std::vector<Tensor>& parameters);

}  // namespace hearth
