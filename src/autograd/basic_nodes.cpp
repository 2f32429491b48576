#include "hearth/autograd/basic_nodes.h"

namespace hearth::autograd {

Error::Error(std::string text, edge_list&& next_edges)
    : Node(UINT64_MAX, std::move(next_edges)), msg(std::move(text)) {}
variable_list Error::apply(variable_list&&) { throw hearth::Error(msg); }

DelayedError::DelayedError(std::string text, int64_t num_inputs) : msg(std::move(text)) {
  for (int64_t i = 0; i < num_inputs; ++i) add_input_metadata(undefined_input());
}

variable_list DelayedError::apply(variable_list&& inputs) {
  variable_list outputs;
  for (const Tensor& input : inputs)
    outputs.push_back(input.defined() ? input.tensor_data() : Tensor());
  return wrap_outputs(inputs, std::move(outputs), [this](edge_list&& edges) {
    return NodePtr::adopt(new Error(msg, std::move(edges)));
  });
}

variable_list UndefinedGradBackward::apply(variable_list&&) { return variable_list(num_outputs()); }

GraphRoot::GraphRoot(edge_list functions, variable_list inputs)
    : Node(std::move(functions)), outputs(std::move(inputs)) {
  for (const Tensor& output : outputs) add_input_metadata(output);
}
variable_list GraphRoot::apply(variable_list&&) { return outputs; }

variable_list Identity::apply(variable_list&& inputs) { return std::move(inputs); }

}  // namespace hearth::autograd
