#include "hearth/autograd.h"

#include <atomic>

#include "autograd/engine.h"
#include "core/modes.h"
#include "hearth/autograd_hooks.h"
#include "hearth/context.h"

namespace hearth {

bool GradMode::is_enabled() { return modes.grad_enabled; }
void GradMode::set_enabled(bool enabled) { modes.grad_enabled = enabled; }

InferenceMode::InferenceMode(bool enabled)
    : previous_((modes.flags & kInferenceMode) != 0), previous_grad_(modes.grad_enabled) {
  modes.flags = enabled ? modes.flags | kInferenceMode : modes.flags & ~uint32_t(kInferenceMode);
  modes.grad_enabled = !enabled;
}
InferenceMode::~InferenceMode() {
  modes.flags = previous_ ? modes.flags | kInferenceMode : modes.flags & ~uint32_t(kInferenceMode);
  modes.grad_enabled = previous_grad_;
}
bool InferenceMode::is_enabled() { return (modes.flags & kInferenceMode) != 0; }

namespace autograd {

bool AnomalyMode::is_enabled() { return (modes.flags & kAnomalyMode) != 0; }
bool AnomalyMode::should_check_nan() { return modes.anomaly_check_nan; }
void AnomalyMode::set_enabled(bool enabled, bool check_nan) {
  modes.flags = enabled ? modes.flags | kAnomalyMode : modes.flags & ~uint32_t(kAnomalyMode);
  modes.anomaly_check_nan = check_nan;
}
PreserveVersionGuard::PreserveVersionGuard(const std::vector<Tensor>& tensors) : tensors_(tensors) {
  versions_.reserve(tensors.size());
  for (const Tensor& tensor : tensors) versions_.push_back(impl_of(tensor).version());
}
PreserveVersionGuard::~PreserveVersionGuard() {
  for (size_t i = 0; i < tensors_.size(); ++i)
    impl_of(tensors_[i]).set_version(static_cast<uint32_t>(versions_[i]));
}

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan)
    : previous_(AnomalyMode::is_enabled()), previous_check_nan_(AnomalyMode::should_check_nan()) {
  AnomalyMode::set_enabled(true, check_nan);
}
DetectAnomalyGuard::~DetectAnomalyGuard() {
  AnomalyMode::set_enabled(previous_, previous_check_nan_);
}

namespace {

/// Returns the gradient of a root from which backward starts: the given one, checked and summed to
/// the root's sizes, or 1 for a scalar root.
Tensor root_gradient(const Tensor& root, const Tensor& given, size_t index) {
  if (given.defined()) {
    HEARTH_CHECK(sums_to(given.sizes(), root.sizes()), "invalid gradient at index ", index,
                 " - got ", given.sizes(), " but expected shape compatible with ", root.sizes());
    HEARTH_CHECK(given.is_complex() == root.is_complex(),
                 "For complex Tensors, both grad_output and output are "
                 "required to have the same dtype. Mismatch in dtype: grad_output[",
                 index, "] has a dtype of ", name_of(given.scalar_type()), " and output[", index,
                 "] has a dtype of ", name_of(root.scalar_type()), ".");
    HEARTH_CHECK(given.device() == root.device() || given.dim() == 0, "invalid gradient at index ",
                 index, " - expected device ", root.device(), " but got ", given.device());
    const Tensor gradient = given.to(root.device(), root.scalar_type());
    return gradient.sizes().equals(root.sizes()) ? gradient : gradient.sum_to_size(root.sizes());
  }
  HEARTH_CHECK(root.numel() == 1, "grad can be implicitly created only for scalar outputs");
  HEARTH_CHECK(!root.is_complex(), "grad can be computed only for real scalar outputs but got ",
               name_of(root.scalar_type()));
  const AutoGradMode off(false);
  return ones_like(root);
}

void add_roots(GraphTask& task, const variable_list& roots, const variable_list& gradients) {
  HEARTH_CHECK(gradients.empty() || gradients.size() == roots.size(), "got ", roots.size(),
               " tensors and ", gradients.size(), " gradients");
  for (size_t i = 0; i < roots.size(); ++i) {
    HEARTH_CHECK(roots[i].defined(), "element ", i, " of tensors is undefined");
    const Edge edge = gradient_edge(roots[i]);
    HEARTH_CHECK(edge.is_valid(), "element ", i,
                 " of tensors does not require grad and does not have a grad_fn");
    task.add_root(edge, root_gradient(roots[i], gradients.empty() ? Tensor() : gradients[i], i));
  }
}

void collect_edges(SmallVector<Edge, 2>& edges, const variable_list& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    HEARTH_CHECK(inputs[i].defined() && requires_grad(impl_of(inputs[i])),
                 "One of the differentiated Tensors does "
                 "not require grad (element ",
                 i, " of the input tensors does not require grad)");
    edges.push_back(gradient_edge(inputs[i]));
  }
}

}  // namespace

void warn_of_cycle() {
  static std::atomic<bool> warned = false;
  if (!warned.exchange(true) || globalContext().warnAlways())
    warn(
        "Using backward() with create_graph=True will create a reference cycle between the "
        "parameter and its "
        "gradient which can cause a memory leak. We recommend using autograd.grad when creating "
        "the graph to avoid "
        "this. If you have to use this function, make sure to reset the .grad fields of your "
        "parameters to None "
        "after use to break the cycle and avoid the leak.");
}

void backward(const variable_list& tensors, const variable_list& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph, const variable_list& inputs) {
  if (tensors.empty()) return;
  GraphTask task(retain_graph.value_or(create_graph), create_graph);
  if (create_graph) warn_of_cycle();
  add_roots(task, tensors, grad_tensors);
  if (!inputs.empty()) {
    SmallVector<Edge, 2> edges;
    collect_edges(edges, inputs);
    for (const Tensor& input : inputs) input.retain_grad();
    task.restrict_to(edges, true);
  }
  task.run();
}

variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs, std::optional<bool> retain_graph,
                   bool create_graph, bool allow_unused) {
  HEARTH_CHECK(!inputs.empty(), "grad requires non-empty inputs.");
  GraphTask task(retain_graph.value_or(create_graph), create_graph);
  SmallVector<Edge, 2> edges;
  collect_edges(edges, inputs);
  add_roots(task, outputs, grad_outputs);
  task.restrict_to(edges, false);
  variable_list results = task.run();
  for (const Tensor& result : results)
    HEARTH_CHECK(result.defined() || allow_unused,
                 "One of the differentiated Tensors appears to not have been used in the graph. "
                 "Set allow_unused=True "
                 "if this is the desired behavior.");
  return results;
}

int64_t current_graph_task_id() {
  const GraphTask* task = GraphTask::current();
  return task ? task->id() : -1;
}

void queue_callback(std::function<void()> callback) {
  GraphTask* task = GraphTask::current();
  HEARTH_CHECK(task, "Final callbacks can only be installed during backward pass.");
  task->queue_callback(std::move(callback));
}

}  // namespace autograd
}  // namespace hearth
