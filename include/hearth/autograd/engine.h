#pragma once

#include <functional>
#include <string>

#include "hearth/autograd.h"

namespace hearth::autograd {

/// LibTorch's interface of backward passes.
class HEARTH_API Engine {
 public:
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  static Engine& get_default_engine();
  static Engine& get_base_engine() { return get_default_engine(); }
  /// Passes `inputs`, the gradients of the roots, through the graph. With `accumulate_grad`, adds
  /// the results to the leaves (only to those of `outputs`, if there are any); else returns the
  /// gradients of `outputs`.
  variable_list execute(const edge_list& roots, const variable_list& inputs, bool keep_graph,
                        bool create_graph, bool accumulate_grad, const edge_list& outputs = {});
  void queue_callback(std::function<void()> callback);  ///< as the function of this name
  /// Whether the running pass computes the gradients of all leaves, as checkpoints need it.
  bool is_checkpoint_valid();

 private:
  Engine() = default;
};

/// Throws unless there is one gradient per edge; converts the gradients to the metadata of the
/// edges' forward values. `format_error` completes the text of errors.
HEARTH_API void validate_outputs(
    const edge_list& edges, variable_list& gradients,
    const std::function<std::string(const std::string&)>& format_error);

HEARTH_API NodePtr get_current_node();       ///< the node that runs on this thread, or null
HEARTH_API int get_current_graph_task_id();  ///< as current_graph_task_id()
HEARTH_API bool get_current_graph_task_keep_graph();  ///< whether the pass keeps saved tensors

}  // namespace hearth::autograd
