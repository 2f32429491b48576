#include "hearth/distributed/zero.h"

#include "distributed/sharding/same_on_all_ranks.h"
#include "distributed/sharding/zero_partition.h"
#include "hearth/distributed/init.h"

namespace hearth::distributed {

namespace {

constexpr DifferenceText kDifference{"ZeroRedundancyOptimizer", "have different parameters",
                                     "pass the same parameters in the same groups"};

using Groups = ZeroRedundancyOptimizer::Groups;

std::unique_ptr<optim::Optimizer> made_by(const ZeroRedundancyOptimizer::Factory& factory,
                                          const Groups& groups) {
  HEARTH_CHECK_AS(ValueError, factory,
                  "ZeroRedundancyOptimizer needs a function that creates the optimizer");
  auto optimizer = factory(groups);
  HEARTH_CHECK_AS(ValueError, optimizer && optimizer->param_groups().size() == groups.size(),
                  "ZeroRedundancyOptimizer: the function must create an optimizer of all groups "
                  "that it receives");
  return optimizer;
}

Descriptions described_groups(const Groups& groups) {
  Descriptions lines;
  for (size_t i = 0; i < groups.size(); ++i)
    for (const Tensor& param : groups[i].params())
      lines.push_back(describe_parameter(detail::str("group ", i), param));
  return lines;
}

/// The optimizer, if all ranks can create it, and with equal parameters.
std::unique_ptr<optim::Optimizer> made_on_all_ranks(const ZeroRedundancyOptimizer::Factory& factory,
                                                    const Groups& groups,
                                                    const ProcessGroupPtr& group) {
  HEARTH_CHECK_AS(ValueError, get_rank(group) >= 0,
                  "ZeroRedundancyOptimizer: this process does not belong to the process group");
  std::unique_ptr<optim::Optimizer> optimizer;
  const auto describe = [&] {
    optimizer = made_by(factory, groups);
    return described_groups(optimizer->param_groups());
  };
  check_same_on_all_ranks(kDifference, describe, group);
  return optimizer;
}

}  // namespace

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(const Groups& param_groups, Factory factory,
                                                 const ZeroRedundancyOptimizerOptions& options)
    : ZeroRedundancyOptimizer(made_on_all_ranks(factory, param_groups, options.process_group()),
                              factory, options) {}

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(std::vector<Tensor> params, Factory factory,
                                                 const ZeroRedundancyOptimizerOptions& options)
    : ZeroRedundancyOptimizer(Groups{optim::OptimizerParamGroup(std::move(params))},
                              std::move(factory), options) {}

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(std::unique_ptr<optim::Optimizer> whole,
                                                 Factory factory,
                                                 const ZeroRedundancyOptimizerOptions& options)
    : Optimizer(whole->param_groups(), whole->defaults().clone()),
      partition_(std::make_unique<Partition>()) {
  partition_->factory = std::move(factory);
  partition_->options = options;
  partition_->rank = get_rank(options.process_group());
  partition_->loads.resize(static_cast<size_t>(get_world_size(options.process_group())));
  partition_->local = std::move(whole);
  for (size_t i = 0; i < param_groups_.size(); ++i) partition(i);
}

ZeroRedundancyOptimizer::~ZeroRedundancyOptimizer() = default;

/// Divides the parameters of a group.
void ZeroRedundancyOptimizer::partition(size_t group) {
  const std::vector<Tensor>& params = param_groups_[group].params();
  partition_->assign(params);
  partition_->local->param_groups()[group].params() = partition_->own(params);
}

Tensor ZeroRedundancyOptimizer::step(LossClosure closure) {
  // A scheduler may have changed the options.
  for (size_t i = 0; i < param_groups_.size(); ++i)
    partition_->local->param_groups()[i].set_options(param_groups_[i].options().clone());
  Tensor loss;
  std::exception_ptr error;
  try {
    loss = partition_->local->step(std::move(closure));
  } catch (...) {
    error = std::current_exception();
  }
  partition_->broadcast_parameters();  // in any case: the other ranks take part in it
  if (error) std::rethrow_exception(error);
  return loss;
}

void ZeroRedundancyOptimizer::add_param_group(const optim::OptimizerParamGroup& param_group) {
  const size_t num_groups = param_groups_.size();
  const auto add = [&] {
    Optimizer::add_param_group(param_group);
    return described_groups(param_groups_);
  };
  try {
    check_same_on_all_ranks(kDifference, add, partition_->options.process_group());
  } catch (...) {
    while (param_groups_.size() > num_groups) param_groups_.pop_back();
    throw;
  }
  partition_->local->add_param_group(param_groups_.back());
  partition(param_groups_.size() - 1);
}

optim::Optimizer& ZeroRedundancyOptimizer::optim() { return *partition_->local; }
int ZeroRedundancyOptimizer::rank_of(const Tensor& param) const {
  return partition_->owner_of(param);
}

}  // namespace hearth::distributed
