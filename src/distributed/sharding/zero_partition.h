#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hearth/distributed/zero.h"

namespace hearth::distributed {

/// The parameters that one rank updates and broadcasts together.
struct ZeroBucket {
  int owner;
  std::vector<Tensor> params;
  // The parameters are views of it. Undefined before the first broadcast, and unless
  // parameters_as_bucket_view is set.
  Tensor flat;
};

/// The assignment of parameters to the ranks that update them.
struct ZeroRedundancyOptimizer::Partition {
  Partition();
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;
  /// Gives the parameters to the ranks, the largest first, each to the least loaded rank.
  void assign(const std::vector<Tensor>& params);
  int owner_of(const Tensor& param) const;
  /// The parameters of a list that this rank updates.
  std::vector<Tensor> own(const std::vector<Tensor>& params) const;
  /// Copies all parameters from their owners.
  void broadcast_parameters();

  Factory factory;
  ZeroRedundancyOptimizerOptions options;
  int rank = 0;
  std::vector<int64_t> loads;                    // elements by rank
  std::unique_ptr<optim::Optimizer> local;       // updates this rank's parameters
  std::optional<optim::StateDict> consolidated;  // of all ranks, after consolidate_state_dict()

 private:
  void add_to_buckets(const Tensor& param, int owner);

  std::unordered_map<const void*, int> owners_;
  std::vector<ZeroBucket> buckets_;
};

/// Whether there is a ZeroRedundancyOptimizer that updates one of the parameters.
bool are_updated_by_zero(const std::vector<Tensor>& params);

}  // namespace hearth::distributed
