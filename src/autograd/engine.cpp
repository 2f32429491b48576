#include "autograd/engine.h"

#include <algorithm>
#include <thread>

#include "autograd/anomaly.h"
#include "autograd/op_node.h"
#include "core/backends.h"
#include "core/device_allocator.h"
#include "core/observer.h"
#include "core/order_streams.h"
#include "core/tensor_impl.h"

namespace hearth::autograd {

namespace {

constexpr int kMaxNesting = 60;  // of backward passes on one stack; deeper ones use a new thread

thread_local GraphTask* current_task = nullptr;
thread_local Node* running_node = nullptr;
thread_local int nesting = 0;

/// Sets a variable for the current scope.
template <class T>
class ScopedValue {
 public:
  ScopedValue(T& variable, T value) : variable_(variable), previous_(variable) { variable = value; }
  ~ScopedValue() { variable_ = previous_; }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  T& variable_;
  T previous_;
};

/// Restores this thread's modes when it is destroyed, but not its observers: a hook of a tensor may
/// have started or stopped a profile.
class TaskModesGuard {
 public:
  TaskModesGuard() : saved_(modes) {}
  ~TaskModesGuard() {
    saved_.observer = modes.observer;
    saved_.flags = (saved_.flags & ~uint32_t(kObserved)) | (modes.flags & kObserved);
    modes = saved_;
  }
  TaskModesGuard(const TaskModesGuard&) = delete;
  TaskModesGuard& operator=(const TaskModesGuard&) = delete;

 private:
  Modes saved_;
};

/// Orders a read of the tensor on stream `to` after its computation on stream `from`.
void order_read(const Tensor& tensor, StreamHandle from, StreamHandle to) {
  if (from == to || !impl_of(tensor).storage) return;
  const Device device = tensor.device();
  order_streams(device, from, to);
  if (!to) to = backend_of(device).default_stream(device.index());
  device_record_stream(impl_of(tensor).storage->data, device, to);
}

/// Makes the streams of the node's forward call current, on each of its devices.
void use_forward_streams(const Node& node) {
  for (size_t i = node.num_inputs(); i-- > 0;) {
    const InputMetadata& metadata = node.input_metadata(i);
    const Device device = metadata.device();
    if (!device.is_cuda()) continue;
    modes.cuda_device = device.index();  // at the end, the device of the first output
    modes.streams[device.index()] = metadata.forward_stream();
  }
}

[[gnu::cold, gnu::noinline]] void begin_observed_node(const Node& node) {
  const auto* const op_node = dynamic_cast<const OpNode*>(&node);
  const std::string name = op_node ? "" : node.name();
  begin_observed_range({ObservedRange::Kind::kBackward, &node, name,
                        op_node ? &op_node->op() : nullptr, node.sequence_nr()});
}

/// Tells observers that a node runs.
class NodeObservation {
 public:
  explicit NodeObservation(const Node& node) : node_(node) {
    if (modes.flags & kObserved) [[unlikely]]
      begin_observed_node(node);
  }
  ~NodeObservation() {
    if (modes.flags & kObserved) [[unlikely]]
      end_observed_range(&node_);
  }
  NodeObservation(const NodeObservation&) = delete;
  NodeObservation& operator=(const NodeObservation&) = delete;

 private:
  const Node& node_;
};

constexpr char kContextPrefix[] = "in the backward of ";

/// Adds the node's name to an error that lacks it, unless a nested backward pass has added a name.
void add_node(hearth::Error& error, const Node& node) {
  const std::string text = error.msg(), name = node.name();
  if (text.find(std::string("\n") + kContextPrefix) == std::string::npos &&
      text.find("(in " + name + ")") == std::string::npos)
    error.append_line(kContextPrefix + name);
}

}  // namespace

Tensor conform(Tensor grad, const InputMetadata& wanted, size_t index, const Complete& complete) {
  if (wanted.was_default_constructed()) return grad;
  const auto check = [&](bool fits, const auto&... parts) {
    HEARTH_CHECK(fits, complete(detail::str("invalid gradient at index ", index, " - ", parts...)));
  };
  if (!wanted.is_same_shape(grad)) {
    check(wanted.is_expandable_to_shape(grad), "got ", grad.sizes(),
          " but expected shape compatible with ", wanted.sizes());
    grad = grad.sum_to_size(wanted.sizes());
  }
  const ScalarType dtype = wanted.scalar_type();
  if (grad.is_complex() && !is_complex(dtype)) grad = real(grad);
  if (grad.scalar_type() != dtype) grad = grad.to(dtype);
  if (!(grad.device() == wanted.device())) {
    check(grad.dim() == 0, "expected device ", wanted.device(), " but got ", grad.device());
    grad = grad.to(wanted.device(), dtype);
  }
  return grad;
}

bool sums_to(IntArrayRef from, IntArrayRef to) {
  if (to.size() > from.size()) return false;
  const size_t shift = from.size() - to.size();
  for (size_t d = 0; d < to.size(); ++d)
    if (to[d] != from[d + shift] && to[d] != 1) return false;
  return true;
}

GraphTask* GraphTask::current() { return current_task; }

bool GraphTask::wants(const Node& node) const {
  if (!restricted_) return true;
  const auto found = entries_.find(const_cast<Node*>(&node));
  // A node that is not in the pass is the former grad_fn of a view that was written to. The node
  // that CopySlices calls leads to it, and CopySlices always uses its gradient.
  return found == entries_.end() || found->second.needed || !found->second.captures.empty();
}

bool wants_gradient(const Node& node, size_t i) {
  if (!node.should_compute_output(i)) return false;
  const GraphTask* task = GraphTask::current();
  return !task || task->wants(*node.next_edge(i).function);
}

Node* current_node() { return running_node; }

GraphTask::Pending& GraphTask::pending(const NodePtr& node) {
  Pending& entry = entries_[node.get()];
  if (!entry.node) {
    entry.node = node;
    // OpNode returns its results in the list of its gradients.
    entry.gradients.reserve(std::max(node->num_inputs(), node->num_outputs()));
    entry.gradients.resize(node->num_inputs());
  }
  return entry;
}

void GraphTask::add_root(const Edge& edge, Tensor gradient) {
  Pending& entry = pending(edge.function);
  roots_.push_back(&entry);
  deliver(entry, edge.input_nr, std::move(gradient));
}

void GraphTask::restrict_to(const SmallVector<Edge, 2>& inputs, bool accumulate) {
  restricted_ = true;
  captured_.resize(accumulate ? 0 : inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Pending& entry = pending(inputs[i].function);
    entry.captures.emplace_back(inputs[i].input_nr, accumulate ? kAccumulated : i);
  }
}

void GraphTask::discover() {
  // Depth-first search without recursion. In children_first, a node follows all nodes it leads to.
  struct Visit {
    Pending* entry;
    size_t next_edge;
  };
  std::vector<Visit> stack;
  std::vector<Pending*> children_first;
  const auto visit = [&](Pending& entry) {
    if (entry.discovered) return;
    entry.discovered = true;
    entry.first_child = children_.size();
    entry.num_children = entry.node->num_outputs();
    children_.resize(children_.size() + entry.num_children);
    stack.push_back({&entry, 0});
  };
  for (Pending* root : roots_) {
    visit(*root);
    while (!stack.empty()) {
      auto& [entry, next_edge] = stack.back();
      if (next_edge == entry->num_children) {
        children_first.push_back(entry);
        stack.pop_back();
        continue;
      }
      const size_t child_index = entry->first_child + next_edge;
      const Edge& edge = entry->node->next_edge(next_edge++);
      if (!edge.is_valid()) continue;
      check_input_number(edge);
      Pending& child = pending(edge.function);
      children_[child_index] = &child;
      ++child.dependencies;
      visit(child);
    }
  }
  if (restricted_) mark_needed(children_first);
}

void GraphTask::mark_needed(const std::vector<Pending*>& children_first) {
  for (Pending* entry : children_first) {
    bool leads_to_input = false;
    for (size_t i = 0; i < entry->num_children; ++i)
      if (const Pending* const child = children_[entry->first_child + i])
        leads_to_input |= child->needed || !child->captures.empty();
    const bool accumulates =
        !entry->captures.empty() && entry->captures.front().second == kAccumulated;
    entry->needed = leads_to_input || accumulates;
  }
}

variable_list GraphTask::run() {
  if (nesting >= kMaxNesting) {
    // Continue on the stack of a new thread, so that this one does not overflow.
    variable_list results;
    std::exception_ptr failure;
    const Modes snapshot = modes;
    std::thread thread([&] {
      const ModesGuard guard(snapshot);
      try {
        results = run();
      } catch (...) {
        failure = std::current_exception();
      }
    });
    thread.join();
    if (failure) std::rethrow_exception(failure);
    return results;
  }
  const ScopedValue<GraphTask*> task(current_task, this);
  const ScopedValue<int> depth(nesting, nesting + 1);
  const TaskModesGuard guard;
  modes.grad_enabled = create_graph_;
  modes.flags &= ~uint32_t(kInferenceMode);
  modes.excluded_keys = {};
  modes.memory_tag = MemoryTag::Gradient;
  discover();
  try {
    run_ready();
  } catch (...) {
    // Saved tensors are freed even if backward fails.
    if (!keep_graph_)
      for (auto& [node, entry] : entries_) node->release_variables();
    throw;
  }
  for (size_t i = 0; i < callbacks_.size(); ++i) callbacks_[i]();  // a callback may queue another
  return std::move(captured_);
}

void GraphTask::run_ready() {
  std::unordered_map<Pending*, bool> queued;
  for (Pending* root : roots_)
    if (root->dependencies == 0 && queued.emplace(root, true).second) ready_.push(root);
  const Modes initial = modes;
  while (!ready_.empty()) {
    Pending* next = ready_.top();
    ready_.pop();
    const Node& node = *next->node;
    run_node(*next);
    if (node.num_outputs() > 0 && next->captures.empty()) continue;
    // Work that follows on the caller's streams may read a leaf's gradient or a captured one.
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const InputMetadata& metadata = node.input_metadata(i);
      const Device device = metadata.device();
      if (device.is_cuda())
        order_streams(device, metadata.forward_stream(), initial.streams[device.index()]);
    }
  }
}

void GraphTask::capture(Pending& entry) {
  for (const auto& [input_nr, index] : entry.captures)
    if (index != kAccumulated) captured_[index] = entry.gradients[input_nr];
}

void GraphTask::run_node(Pending& entry) {
  Node& node = *entry.node;
  if (!entry.captures.empty()) {
    // If the node has to run, call() below runs the hooks of its tensors.
    if (!entry.needed) NodeAccess::run_capture_hooks(node, entry.gradients);
    capture(entry);
  }
  variable_list gradients = std::move(entry.gradients);  // freed here, not at the end of the pass
  if (restricted_ && !entry.needed) return distribute(entry, variable_list(node.num_outputs()));
  const TaskModesGuard guard;
  use_forward_streams(node);
  const ScopedValue<Node*> running(running_node, &node);
  const NodeObservation observation(node);
  variable_list results;
  try {
    if (!keep_graph_) node.will_release_variables();
    results = NodeAccess::call(node, std::move(gradients));
    if (modes.flags & kAnomalyMode && modes.anomaly_check_nan) check_no_nan(node, results);
  } catch (hearth::Error& error) {
    if (modes.flags & kAnomalyMode) explain_failure(node, error.what());
    add_node(error, node);
    throw;
  } catch (const std::exception& error) {
    if (modes.flags & kAnomalyMode) explain_failure(node, error.what());
    throw;
  }
  if (!keep_graph_) node.release_variables();
  distribute(entry, std::move(results));
}

void GraphTask::distribute(Pending& from, variable_list&& gradients) {
  const Node& node = *from.node;
  HEARTH_CHECK(gradients.size() == node.num_outputs(), "Function ", node.name(),
               " returned an invalid number of gradients - expected ", node.num_outputs(),
               ", but got ", gradients.size());
  HEARTH_CHECK(node.num_outputs() == from.num_children, "Function ", node.name(), " had ",
               from.num_children, " edges when the backward pass began, but has ",
               node.num_outputs(), " now: a hook must not add edges");
  const Complete complete = [&node](const std::string& text) {
    return detail::str("Function ", node.name(), " returned an ", text);
  };
  for (size_t i = 0; i < from.num_children; ++i) {
    Pending* const to = children_[from.first_child + i];
    if (!to) continue;
    const Edge& edge = node.next_edge(i);
    if (i < gradients.size() && gradients[i].defined()) {
      Tensor grad = conform(std::move(gradients[i]), edge.function->input_metadata(edge.input_nr),
                            i, complete);
      deliver(*to, edge.input_nr, std::move(grad));
    }
    if (--to->dependencies == 0) ready_.push(to);
  }
}

void GraphTask::deliver(Pending& to, uint32_t input_nr, Tensor gradient) {
  const ModesGuard guard;
  if (gradient.is_cuda() && input_nr < to.node->num_inputs()) {
    StreamHandle& stream = modes.streams[gradient.get_device()];
    const StreamHandle consumer = to.node->input_metadata(input_nr).forward_stream();
    order_read(gradient, stream, consumer);
    stream = consumer;  // the sum runs here, after all its terms
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
