// The end of a backward pass, and passes in which this rank has no data but takes part so that the
// other ranks can finish theirs.

#include <algorithm>
#include <numeric>

#include "distributed/ddp/reducer.h"
#include "hearth/distributed/collectives.h"
#include "hearth/operators.h"
#include "hearth/tensor_literal.h"

namespace hearth::distributed {

void Reducer::begin_exchange_of_uses() {
  std::vector<int64_t> uses;
  for (const Parameter& parameter : parameters_)
    uses.push_back(learns_graph() ? std::max<int64_t>(parameter.uses, parameter.is_used)
                                  : parameter.is_used);
  uses_ = tensor(uses);
  std::vector<Tensor> tensors{uses_};
  AllreduceOptions options;
  options.reduceOp = ReduceOp::MAX;
  uses_work_ = communication_.group->allreduce(tensors, options);
}

void Reducer::finish_exchange_of_uses() {
  std::exchange(uses_work_, nullptr)->wait();
  const int64_t* const counts = uses_.data_ptr<int64_t>();
  for (size_t i = 0; i < parameters_.size(); ++i) {
    globally_unused_[i] = counts[i] == 0;
    // A rank without data in the first pass learns the graph from the others.
    if (learns_graph() && !is_running_) parameters_[i].uses = static_cast<int>(counts[i]);
  }
}

void Reducer::finish() {
  const NoGradGuard no_grad;
  try {
    take_results();
  } catch (...) {
    end_pass();
    throw;
  }
  for (Parameter& parameter : parameters_) parameter.is_used = false;
  if (options_.static_graph) knows_graph_ = true;
  end_pass();
  rebuild_buckets();
}

void Reducer::end_pass() {
  is_expected_ = is_running_ = false;
  queued_in_ = -1;
}

void Reducer::take_results() {
  for (Bucket& bucket : buckets_) bucket.wait();
  if (uses_work_) finish_exchange_of_uses();
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (!globally_unused_[i])
      buckets_[parameters_[i].bucket].store(parameters_[i].slot,
                                            communication_.gradients_are_views);
}

/// After the first pass: makes buckets in the order in which rank 0's gradients have arrived.
void Reducer::rebuild_buckets() {
  if (has_rebuilt_ || options_.find_unused_parameters) return;
  has_rebuilt_ = true;
  Indices order = arrival_;
  std::vector<bool> has_arrived(parameters_.size());
  for (const size_t i : arrival_) has_arrived[i] = true;
  for (size_t i = parameters_.size(); i-- > 0;)
    if (!has_arrived[i]) order.push_back(i);
  const Tensor indices = tensor(std::vector<int64_t>(order.begin(), order.end()));
  std::vector<Tensor> tensors{indices};
  communication_.group->broadcast(tensors)->wait();
  const int64_t* const agreed = indices.data_ptr<int64_t>();
  make_buckets(Indices(agreed, agreed + order.size()));
}

void Reducer::run_pass_of_others() {
  const std::lock_guard lock(mutex_);
  const NoGradGuard no_grad;
  for (Parameter& parameter : parameters_) parameter.is_used = false;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    buckets_[i].fill_with_zeros();
    buckets_[i].launch(i, buckets_.size(), communication_);
  }
  if (exchanges_uses()) begin_exchange_of_uses();
  for (Bucket& bucket : buckets_) bucket.wait();
  if (uses_work_) finish_exchange_of_uses();
  if (options_.static_graph) knows_graph_ = true;
  rebuild_buckets();
}

}  // namespace hearth::distributed
