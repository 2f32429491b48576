#include "hearth/distributed/zero.h"

#include "distributed/sharding/same_on_all_ranks.h"
#include "distributed/sharding/zero_partition.h"
#include "hearth/distributed/init.h"

namespace hearth::distributed {

namespace {

std::unique_ptr<optim::Optimizer> made_by(const ZeroRedundancyOptimizer::Factory& factory,
                                          const ZeroRedundancyOptimizer::Groups& groups) {
  HEARTH_CHECK_AS(ValueError, factory,
                  "ZeroRedundancyOptimizer needs a function that creates the optimizer");
  auto optimizer = factory(groups);
  HEARTH_CHECK_AS(ValueError, optimizer && optimizer->param_groups().size() == groups.size(),
                  "ZeroRedundancyOptimizer: the function must create an optimizer of all groups "
                  "that it receives");
  return optimizer;
}

}  // namespace

ZeroRedundancyOptimizer::ZeroRedundancyOptimizer(const Groups& param_groups, Factory factory,
                                                 const ZeroRedundancyOptimizerOptions& options)
    : ZeroRedundancyOptimizer(made_by(factory, param_groups), factory, options) {}

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
  HEARTH_CHECK_AS(ValueError, partition_->rank >= 0,
                  "ZeroRedundancyOptimizer: this process does not belong to the process group");
  partition_->loads.resize(static_cast<size_t>(get_world_size(options.process_group())));
  partition_->local = std::move(whole);
  check_same_parameters();
  for (size_t i = 0; i < param_groups_.size(); ++i) partition(i);
}

ZeroRedundancyOptimizer::~ZeroRedundancyOptimizer() = default;

void ZeroRedundancyOptimizer::check_same_parameters() const {
  Descriptions lines;
  for (size_t group = 0; group < param_groups_.size(); ++group)
    for (const Tensor& param : param_groups_[group].params())
      lines.push_back(describe_parameter(detail::str("group ", group), param));
  check_same_on_all_ranks("ZeroRedundancyOptimizer", lines, partition_->options.process_group());
}

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
  Optimizer::add_param_group(param_group);
  if (!partition_) return;  // called by the base's constructor
  check_same_parameters();
  partition_->local->add_param_group(param_groups_.back());
  partition(param_groups_.size() - 1);
}

optim::Optimizer& ZeroRedundancyOptimizer::optim() { return *partition_->local; }
int ZeroRedundancyOptimizer::rank_of(const Tensor& param) const {
  return partition_->owner_of(param);
}

}  // namespace hearth::distributed
