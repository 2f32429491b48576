#include "hearth/autograd/engine.h"

#include <atomic>

#include "autograd/engine.h"
#include "hearth/autograd_hooks.h"

namespace hearth::autograd {

Engine& Engine::get_default_engine() {
  static Engine engine;
  return engine;
}

variable_list Engine::execute(const edge_list& roots, const variable_list& inputs, bool keep_graph,
                              bool create_graph, bool accumulate_grad, const edge_list& outputs) {
  variable_list gradients = inputs;
  validate_outputs(roots, gradients, [](const std::string& text) { return text; });
  if (accumulate_grad && create_graph) warn_of_cycle();
  GraphTask task(keep_graph, create_graph);
  for (size_t i = 0; i < roots.size(); ++i)
    if (roots[i].is_valid()) task.add_root(roots[i], gradients[i]);
  if (!outputs.empty()) task.restrict_to(outputs, accumulate_grad);
  return task.run();
}

void Engine::queue_callback(std::function<void()> callback) {
  autograd::queue_callback(std::move(callback));
}

bool Engine::is_checkpoint_valid() {
  const GraphTask* const task = GraphTask::current();
  return !task || !task->is_restricted();
}

void validate_outputs(const edge_list& edges, variable_list& gradients,
                      const std::function<std::string(const std::string&)>& format_error) {
  HEARTH_CHECK(gradients.size() == edges.size(),
               format_error(detail::str("invalid number of gradients - expected ", edges.size(),
                                        ", but got ", gradients.size())));
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!edges[i].is_valid() || !gradients[i].defined()) continue;
    check_input_number(edges[i]);
    gradients[i] = conform(std::move(gradients[i]),
                           edges[i].function->input_metadata(edges[i].input_nr), i, format_error);
  }
}

NodePtr get_current_node() { return NodePtr::share(current_node()); }
int get_current_graph_task_id() { return static_cast<int>(current_graph_task_id()); }
bool get_current_graph_task_keep_graph() {
  const GraphTask* const task = GraphTask::current();
  return !task || task->keeps_graph();
}

}  // namespace hearth::autograd
