#include "distributed/ddp/reducer.h"

#include <algorithm>
#include <numeric>

#include "distributed/ddp/reached.h"
#include "distributed/tensor_groups.h"
#include "hearth/autograd_hooks.h"

namespace hearth::distributed {

Reducer::Reducer(ProcessGroupPtr group, const OrderedDict<std::string, Tensor>& parameters,
                 const ReducerOptions& options)
    : options_(options) {
  communication_.divisor = group->getSize();
  communication_.group = std::move(group);
  communication_.gradients_are_views = options.gradient_as_bucket_view;
  for (const auto& item : parameters) {
    Parameter parameter;
    parameter.name = item.key();
    parameter.tensor = item.value();
    parameter.node = autograd::gradient_edge(item.value()).function;
    parameters_.push_back(std::move(parameter));
  }
  globally_unused_.assign(parameters_.size(), false);
  // Until the order of the gradients is known: backward tends to begin with the last parameters.
  Indices order(parameters_.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  make_buckets(order);
}

Reducer::~Reducer() {
  for (const Parameter& parameter : parameters_)
    if (parameter.hook)
      autograd::remove_post_accumulate_grad_hook(parameter.tensor, *parameter.hook);
}

void Reducer::watch_gradients() {
  // The destructor removes the hooks, so that they need no shared pointer.
  for (size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].hook = autograd::register_post_accumulate_grad_hook(
        parameters_[i].tensor, [this, i](const Tensor&) { on_gradient(i); });
}

void Reducer::make_buckets(const Indices& order) {
  std::vector<Tensor> tensors, ordered;
  for (const Parameter& parameter : parameters_) tensors.push_back(parameter.tensor);
  for (const size_t i : order) ordered.push_back(tensors[i]);
  buckets_.clear();  // first, so that the memory of the previous buckets can be used again
  for (Indices members :
       group_by_size(ordered, options_.first_bucket_bytes, options_.bucket_bytes)) {
    for (size_t slot = 0; slot < members.size(); ++slot) {
      members[slot] = order[members[slot]];
      parameters_[members[slot]].bucket = buckets_.size();
      parameters_[members[slot]].slot = slot;
    }
    buckets_.emplace_back(std::move(members), tensors);
  }
}

void Reducer::set_comm_hook(CommHook hook) {
  const std::lock_guard lock(mutex_);
  HEARTH_CHECK(hook, "register_comm_hook needs a function");
  HEARTH_CHECK(!communication_.hook,
               "register_comm_hook or register_builtin_comm_hook can only be called once.");
  communication_.hook = std::move(hook);
}

void Reducer::set_static_graph() {
  const std::lock_guard lock(mutex_);
  HEARTH_CHECK(!is_expected_ && !is_running_ && arrival_.empty(),
               "_set_static_graph() must be called before the first training step");
  options_.static_graph = true;
  options_.find_unused_parameters = false;
}

void Reducer::prepare_for_forward() {
  const std::lock_guard lock(mutex_);
  if (is_running_) fail_unfinished();
}

void Reducer::prepare_for_backward(const std::vector<Tensor>& outputs) {
  const std::lock_guard lock(mutex_);
  is_expected_ = true;
  queued_in_ = -1;
  unused_ = unused_in(outputs);
  for (const Tensor& output : outputs) {
    if (!output.requires_grad() || output.is_leaf()) continue;  // a leaf would keep the hook
    output.register_hook([reducer = weak_from_this(), unused = unused_](const Tensor&) {
      if (const auto alive = reducer.lock()) alive->on_output(unused);
    });
  }
}

Reducer::Unused Reducer::unused_in(const std::vector<Tensor>& outputs) const {
  if (!options_.find_unused_parameters) return nullptr;
  std::vector<autograd::NodePtr> nodes;
  for (const Parameter& parameter : parameters_) nodes.push_back(parameter.node);
  const std::vector<bool> reached = reached_nodes(outputs, nodes);
  auto unused = std::make_shared<Indices>();
  for (size_t i = 0; i < reached.size(); ++i)
    if (!reached[i]) unused->push_back(i);
  return unused;
}

void Reducer::on_output(const Unused& unused) {
  const std::lock_guard lock(mutex_);
  is_expected_ = true;
  if (!is_running_) unused_ = unused;
  // Queued in this pass, not in a nested one, even if that computes all gradients.
  if (queued_in_ != autograd::current_graph_task_id()) queue_end();
}

void Reducer::queue_end() {
  queued_in_ = autograd::current_graph_task_id();
  autograd::queue_callback([this] { on_backward_end(); });
}

void Reducer::on_gradient(size_t index) {
  const std::lock_guard lock(mutex_);
  parameters_[index].is_used = true;  // under no_sync() too: the next reduction averages it
  if (!is_expected_) return;
  try {
    accept_gradient(index);
  } catch (...) {
    end_pass();
    throw;
  }
}

void Reducer::accept_gradient(size_t index) {
  if (!is_running_) begin_pass();
  Parameter& parameter = parameters_[index];
  if (learns_graph()) {
    if (parameter.uses++ == 0) arrival_.push_back(index);
    if (queued_in_ < 0) queue_end();
    return;
  }
  if (!has_rebuilt_) arrival_.push_back(index);
  if (knows_graph_) {
    HEARTH_CHECK(parameter.left > 0,
                 "Your training graph has changed from first iteration, this is not compatible "
                 "with static_graph set to True.");
    if (--parameter.left > 0) return;
  }
  mark_ready(index);
}

void Reducer::begin_pass() {
  const NoGradGuard no_grad;
  is_running_ = true;
  ready_ = next_bucket_ = 0;
  if (!has_rebuilt_) arrival_.clear();
  for (Bucket& bucket : buckets_) bucket.begin_pass();
  for (Parameter& parameter : parameters_) {
    parameter.is_ready = false;
    parameter.left = parameter.uses;
  }
  if (learns_graph()) return;
  if (unused_)
    for (const size_t i : *unused_) mark_ready(i);
  if (knows_graph_)
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i].uses == 0) mark_ready(i);
}

void Reducer::mark_ready(size_t index) {
  const NoGradGuard no_grad;
  Parameter& parameter = parameters_[index];
  HEARTH_CHECK(!parameter.is_ready,
               "Expected to mark a variable ready only once. Parameter at index ", index,
               " with name ", parameter.name,
               " has been marked as ready twice in one backward pass: it was used outside the "
               "forward function of DistributedDataParallel, or in several nested backward passes. "
               "If the graph is the same in all iterations, static_graph(true) allows this");
  parameter.is_ready = true;
  Bucket& bucket = buckets_[parameter.bucket];
  bucket.put(parameter.slot, communication_);
  ++ready_;
  if (bucket.is_full()) launch_full_buckets();
  if (ready_ == parameters_.size() && queued_in_ < 0) queue_end();
}

void Reducer::launch_full_buckets() {
  const size_t count = buckets_.size();
  for (; next_bucket_ < count && buckets_[next_bucket_].is_full(); ++next_bucket_)
    buckets_[next_bucket_].launch(next_bucket_, count, communication_);
  if (next_bucket_ == count && exchanges_uses()) begin_exchange_of_uses();
}

void Reducer::on_backward_end() {
  const std::lock_guard lock(mutex_);
  // Without a gradient, a parameter is unused, or only outputs outside of the loss depend on it.
  if (is_running_ && (learns_graph() || options_.find_unused_parameters))
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (!parameters_[i].is_ready) mark_ready(i);
  // If gradients are missing, another backward pass may compute them.
  if (is_running_ && ready_ == parameters_.size()) finish();
  queued_in_ = -1;
}

void Reducer::fail_unfinished() const {
  std::string names, indices;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].is_ready) continue;
    names += detail::str(names.empty() ? "" : ", ", parameters_[i].name);
    indices += detail::str(" ", i);
  }
  const std::string rank =
      detail::str(" did not receive grad for rank ", communication_.group->getRank(), ":");
  const char* const reason =
      options_.static_graph
          ? "This error indicates that your training graph has changed in this iteration, e.g., "
            "one parameter is used in first iteration, but then got unused in the second "
            "iteration. this is not compatible with static_graph set to True."
          : "This error indicates that your module has parameters that were not used in producing "
            "loss. You can enable unused parameter detection by passing the keyword argument "
            "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by "
            "\nmaking sure all `forward` function outputs participate in calculating loss. \nIf "
            "you already have done the above, then the distributed data parallel module wasn't "
            "able to locate the output tensors in the return value of your module's `forward` "
            "function. Please include the loss function and the structure of the return value of "
            "`forward` of your module when reporting this issue (e.g. list, dict, iterable).";
  detail::fail<Error>(
      "Expected to have finished reduction in the prior iteration before starting a new one. ",
      reason, "\nParameters which", rank, " ", names, "\nParameter indices which", rank, indices);
}

}  // namespace hearth::distributed
