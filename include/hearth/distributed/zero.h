#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hearth/arg.h"
#include "hearth/distributed/process_group.h"
#include "hearth/optim/optimizer.h"

namespace hearth::distributed {

/// Options of ZeroRedundancyOptimizer, with Python's names.
struct HEARTH_API ZeroRedundancyOptimizerOptions {
  /// The ranks that share the state; null: the default group.
  HEARTH_ARG(ProcessGroupPtr, process_group);
  /// Whether the parameters of each rank become views of one tensor, which is then broadcast as a
  /// whole.
  HEARTH_ARG(bool, parameters_as_bucket_view) = false;
};

/// An optimizer whose state is divided among the ranks: each rank updates some of the parameters
/// and broadcasts them. Gradients must already be equal on all ranks, as DistributedDataParallel
/// makes them. All ranks must call the constructor, step(), add_param_group() and
/// consolidate_state_dict().
class HEARTH_API ZeroRedundancyOptimizer : public optim::Optimizer {
 public:
  using Groups = std::vector<optim::OptimizerParamGroup>;
  /// Creates the optimizer to divide: `return std::make_unique<optim::Adam>(groups, 1e-3);`.
  using Factory = std::function<std::unique_ptr<optim::Optimizer>(const Groups& groups)>;

  ZeroRedundancyOptimizer(const Groups& param_groups, Factory factory,
                          const ZeroRedundancyOptimizerOptions& options = {});
  ZeroRedundancyOptimizer(std::vector<Tensor> params, Factory factory,
                          const ZeroRedundancyOptimizerOptions& options = {});
  ~ZeroRedundancyOptimizer() override;

  Tensor step(LossClosure closure = nullptr) override;
  void add_param_group(const optim::OptimizerParamGroup& param_group) override;

  /// Gathers the state of all parameters on rank `to`, for state_dict() and save() there.
  void consolidate_state_dict(int to = 0);
  /// The state of all parameters when consolidate_state_dict(to) was last called, as the optimizer
  /// of one process has it. Throws on all ranks but `to`.
  optim::StateDict state_dict() const override;
  /// Keeps this rank's part of the state of all parameters, from a job with any number of ranks or
  /// from the optimizer of one process.
  void load_state_dict(const optim::StateDict& dict) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

  /// The optimizer of this rank's parameters.
  optim::Optimizer& optim();
  /// The rank in the group that updates a parameter.
  int rank_of(const Tensor& param) const;

 private:
  struct Partition;
  ZeroRedundancyOptimizer(std::unique_ptr<optim::Optimizer> whole, Factory factory,
                          const ZeroRedundancyOptimizerOptions& options);
  void partition(size_t group);
  optim::StateDict own_state() const;
  std::vector<size_t> own_indices() const;

  std::unique_ptr<Partition> partition_;
};

}  // namespace hearth::distributed
