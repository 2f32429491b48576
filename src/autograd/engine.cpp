#include "autograd/engine.h"

#include <thread>

#include "autograd/anomaly.h"
#include "core/backends.h"
#include "core/device_allocator.h"
#include "core/modes.h"
#include "core/order_streams.h"
#include "core/tensor_impl.h"

namespace hearth::autograd {

namespace {

constexpr int kMaxNesting = 60;  // backward inside backward: beyond this a fresh stack is used

thread_local GraphTask* current_task = nullptr;
thread_local Node* running_node = nullptr;
thread_local int nesting = 0;

template <class T>
class Restore {
 public:
  Restore(T& place, T value) : place_(place), saved_(place) { place = value; }
  ~Restore() { place_ = saved_; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& place_;
  T saved_;
};

/// Makes a gradient look like the forward value: broadcasting is summed away, promotion cast back.
Tensor conform(Tensor grad, const InputMetadata& wanted, const Node& from, size_t index) {
  if (!grad.sizes().equals(wanted.sizes)) {
    HEARTH_CHECK(sums_to(grad.sizes(), wanted.sizes), "Function ", from.name(),
                 " returned an invalid gradient at index ", index, " - got ", grad.sizes(),
                 " but expected shape compatible with ", wanted.sizes);
    grad = grad.sum_to_size(wanted.sizes);
  }
  HEARTH_CHECK(is_differentiable(grad.scalar_type()), "Function ", from.name(),
               " returned a gradient of dtype ", name_of(grad.scalar_type()), " at index ", index);
  if (grad.scalar_type() != wanted.dtype) grad = grad.to(wanted.dtype);
  if (!(grad.device() == wanted.device)) {
    HEARTH_CHECK(grad.dim() == 0, "Function ", from.name(),
                 " returned an invalid gradient at index ", index, " - expected device ",
                 wanted.device, " but got ", grad.device());
    grad = grad.to(wanted.device, wanted.dtype);
  }
  return grad;
}

/// What was made on one stream will be read on the other.
void hand_over(const Tensor& tensor, StreamHandle from, StreamHandle to) {
  if (from == to || !impl_of(tensor).storage) return;
  const Device device = tensor.device();
  order_streams(device, from, to);
  if (!to) to = backend_of(device).default_stream(device.index());
  device_record_stream(impl_of(tensor).storage->data, device, to);
}

/// The node runs on the stream its forward ran on, on each of its devices.
void take_streams(const Node& node) {
  for (size_t i = node.num_inputs(); i-- > 0;) {
    const InputMetadata& metadata = node.input_metadata(i);
    if (!metadata.device.is_cuda()) continue;
    modes.cuda_device = metadata.device.index();  // that of the first output stays
    modes.streams[metadata.device.index()] = metadata.stream;
  }
}

constexpr char kWhere[] = "in the backward of ";

/// Names the node in an error's text, once: errors of a backward inside it name theirs.
void add_node(Error& error, const Node& node) {
  const std::string text = error.msg(), name = node.name();
  if (text.find(std::string("\n") + kWhere) == std::string::npos &&
      text.find("(in " + name + ")") == std::string::npos)
    error.add_context(kWhere + name);
}

}  // namespace

bool sums_to(IntArrayRef from, IntArrayRef to) {
  if (to.size() > from.size()) return false;
  const size_t shift = from.size() - to.size();
  for (size_t d = 0; d < to.size(); ++d)
    if (to[d] != from[d + shift] && to[d] != 1) return false;
  return true;
}

GraphTask* GraphTask::current() { return current_task; }

bool GraphTask::wants(const Node& node) const {
  const auto found = tasks_.find(const_cast<Node*>(&node));
  // A node that is not part of the pass is asked for by one that is: it runs the node on its own.
  return !restricted_ || found == tasks_.end() || found->second.needed ||
         !found->second.captures.empty();
}

bool wants_gradient(const Node& node, size_t i) {
  if (!node.should_compute_output(i)) return false;
  const GraphTask* task = GraphTask::current();
  return !task || task->wants(*node.next_edge(i).function);
}

Node* current_node() { return running_node; }

GraphTask::Pending& GraphTask::pending(const NodePtr& node) {
  Pending& task = tasks_[node.get()];
  if (!task.node) {
    task.node = node;
    task.gradients.resize(node->num_inputs());
  }
  return task;
}

void GraphTask::add_root(const Edge& edge, Tensor gradient) {
  Pending& task = pending(edge.function);
  roots_.push_back(&task);
  deliver(task, edge.input_nr, std::move(gradient));
}

void GraphTask::restrict_to(const SmallVector<Edge, 2>& inputs, bool accumulate) {
  restricted_ = true;
  captured_.resize(accumulate ? 0 : inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Pending& task = pending(inputs[i].function);
    task.captures.emplace_back(inputs[i].input_nr, accumulate ? SIZE_MAX : i);
  }
}

void GraphTask::discover() {
  // Depth first without recursion; leaving a node for the last time puts it behind all it leads to.
  struct Visit {
    Pending* task;
    size_t next_edge;
  };
  std::vector<Visit> stack;
  std::vector<Pending*> children_first;
  std::unordered_map<Node*, bool> seen;
  for (Pending* root : roots_) {
    if (!seen.emplace(root->node.get(), true).second) continue;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next_edge == top.task->node->num_outputs()) {
        children_first.push_back(top.task);
        stack.pop_back();
        continue;
      }
      const Edge& edge = top.task->node->next_edge(top.next_edge++);
      if (!edge.is_valid()) continue;
      check_input_number(edge);
      Pending& child = pending(edge.function);
      ++child.dependencies;
      if (seen.emplace(edge.function.get(), true).second) stack.push_back({&child, 0});
    }
  }
  if (restricted_) mark_needed(children_first);
}

void GraphTask::mark_needed(const std::vector<Pending*>& children_first) {
  for (Pending* task : children_first) {
    bool leads_there = false;
    for (const Edge& edge : task->node->next_edges())
      if (edge.is_valid()) {
        const Pending& child = tasks_.at(edge.function.get());
        leads_there |= child.needed || !child.captures.empty();
      }
    const bool accumulates = !task->captures.empty() && task->captures.front().second == SIZE_MAX;
    task->needed = leads_there || accumulates;
  }
}

variable_list GraphTask::run() {
  if (nesting >= kMaxNesting) {
    // The stack of this thread has carried enough; go on with a fresh one.
    variable_list results;
    std::exception_ptr failure;
    const Modes snapshot = modes;
    std::thread fresh([&] {
      const ModesGuard guard(snapshot);
      try {
        results = run();
      } catch (...) {
        failure = std::current_exception();
      }
    });
    fresh.join();
    if (failure) std::rethrow_exception(failure);
    return results;
  }
  const Restore<GraphTask*> task(current_task, this);
  const Restore<int> depth(nesting, nesting + 1);
  const ModesGuard guard;
  modes.grad_enabled = create_graph_;
  modes.flags &= ~uint32_t(kInferenceMode);
  discover();
  try {
    run_ready();
  } catch (...) {
    // What was saved is freed also when backward fails.
    if (!keep_graph_)
      for (auto& [node, pending] : tasks_) node->release_variables();
    throw;
  }
  for (size_t i = 0; i < callbacks_.size(); ++i) callbacks_[i]();  // a callback may queue another
  return std::move(captured_);
}

void GraphTask::run_ready() {
  std::unordered_map<Pending*, bool> queued;
  for (Pending* root : roots_)
    if (root->dependencies == 0 && queued.emplace(root, true).second) ready_.push(root);
  const Modes callers = modes;
  while (!ready_.empty()) {
    Pending* next = ready_.top();
    ready_.pop();
    const Node& node = *next->node;
    run_node(*next);
    if (node.num_outputs() > 0 && next->captures.empty()) continue;
    // What follows on the caller's streams sees the results.
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const InputMetadata& metadata = node.input_metadata(i);
      if (metadata.device.is_cuda())
        order_streams(metadata.device, metadata.stream, callers.streams[metadata.device.index()]);
    }
  }
}

void GraphTask::capture(Pending& task) {
  for (const auto& [input_nr, index] : task.captures)
    if (index != SIZE_MAX) captured_[index] = task.gradients[input_nr];
}

void GraphTask::run_node(Pending& task) {
  Node& node = *task.node;
  if (!task.captures.empty()) {
    // Captured gradients are those that hooks on the tensor have seen.
    if (!task.needed) NodeAccess::run_capture_hooks(node, task.gradients);
    capture(task);
  }
  if (restricted_ && !task.needed) return distribute(task, variable_list(node.num_outputs()));
  const ModesGuard guard;
  take_streams(node);
  const Restore<Node*> running(running_node, &node);
  variable_list results;
  try {
    results = NodeAccess::call(node, std::move(task.gradients));
    if (modes.flags & kAnomalyMode && modes.anomaly_check_nan) check_no_nan(node, results);
  } catch (Error& error) {
    if (modes.flags & kAnomalyMode) explain_failure(node, error.what());
    add_node(error, node);
    throw;
  } catch (const std::exception& error) {
    if (modes.flags & kAnomalyMode) explain_failure(node, error.what());
    throw;
  }
  if (!keep_graph_) node.release_variables();
  distribute(task, std::move(results));
}

void GraphTask::distribute(Pending& from, variable_list&& gradients) {
  const Node& node = *from.node;
  HEARTH_CHECK(gradients.size() <= node.num_outputs() || node.num_outputs() == 0, "Function ",
               node.name(), " returned an incorrect number of gradients (expected ",
               node.num_outputs(), ", got ", gradients.size(), ")");
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    const Edge& edge = node.next_edge(i);
    if (!edge.is_valid()) continue;
    Pending& to = tasks_.at(edge.function.get());
    if (i < gradients.size() && gradients[i].defined()) {
      Tensor grad =
          conform(std::move(gradients[i]), edge.function->input_metadata(edge.input_nr), node, i);
      deliver(to, edge.input_nr, std::move(grad));
    }
    if (--to.dependencies == 0) ready_.push(&to);
  }
}

void GraphTask::deliver(Pending& to, uint32_t input_nr, Tensor gradient) {
  const ModesGuard guard;
  if (gradient.is_cuda() && input_nr < to.node->num_inputs()) {
    StreamHandle& stream = modes.streams[gradient.get_device()];
    const StreamHandle consumer = to.node->input_metadata(input_nr).stream;
    hand_over(gradient, stream, consumer);
    stream = consumer;  // which waits for all that is summed
  }
  Tensor& sum = to.gradients[input_nr];
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (!modes.grad_enabled && is_unshared(sum) && sum.is_non_overlapping_and_dense()) {
    sum.add_(gradient);
  } else {
    sum = sum.add(gradient);
  }
}

}  // namespace hearth::autograd
