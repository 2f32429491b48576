#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "hearth/nn/module.h"
#include "hearth/nn/run_module.h"
#include "hearth/owned_ptr.h"
#include "hearth/utils/checkpoint.h"

// The graph of a model: the ops that one call of it runs.
namespace hearth::utils {

/// A tensor in a graph.
struct GraphValue {
  enum class Kind : uint8_t {
    Input,      ///< an argument of the model
    Parameter,  ///< a parameter or buffer of the model
    Constant,   ///< any other tensor that was not computed in the call
    Result      ///< an output of a node
  };
  Kind kind = Kind::Result;
  std::string name;   ///< "input.1", "conv1.weight", "constant"; empty for results
  std::string scope;  ///< the module of a parameter; the first user of a constant
  std::vector<int64_t> sizes;
  ScalarType dtype = ScalarType::Undefined;
};

/// A call of an op. The parts of composed ops are not recorded.
struct GraphNode {
  std::string op;               ///< "conv2d", "div.trunc"
  std::string scope;            ///< the module: "Net/Conv2d[conv1]"
  std::string arguments;        ///< "dim=[0], keepdim=True"
  std::vector<size_t> inputs;   ///< indices of values, without absent inputs
  std::vector<size_t> outputs;  ///< indices of values
  int64_t multiply_adds = 0;    ///< of matrix products, convolutions, attention, recurrent nets
};

/// A module of the model.
struct GraphModule {
  std::string path;   ///< "conv1"; "" is the model
  std::string type;   ///< "Conv2d"
  std::string scope;  ///< "Net/Conv2d[conv1]"
};

/// The ops of a call in order. An op that writes to a tensor gives a new value to it and to all its
/// views.
struct Graph {
  std::vector<GraphValue> values;
  std::vector<GraphNode> nodes;
  std::vector<size_t> inputs, outputs;  ///< indices of values
  std::vector<GraphModule> modules;     ///< a module before its submodules
};

/// Prints a line per node, then the outputs.
HEARTH_API std::ostream& operator<<(std::ostream& stream, const Graph& graph);

namespace detail {

/// Records the ops that this thread calls during its lifetime, without gradients and with the model
/// in evaluation mode.
class HEARTH_API Tracer {
 public:
  Tracer(nn::Module& model, const std::vector<Tensor>& inputs);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  Graph finish(const std::vector<Tensor>& outputs);  ///< the graph, with these outputs

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

/// The module itself, or the one that a holder, a shared pointer or an AnyModule has.
template <class Model>
nn::Module& module_of(Model& model) {
  if constexpr (std::is_base_of_v<nn::Module, Model>)
    return model;
  else if constexpr (requires { model.ptr(); })
    return *model.ptr();
  else
    return *model;
}

/// Calls a model of a type that module_of() accepts.
template <class Model, class... Inputs>
decltype(auto) call_model(Model& model, const Inputs&... inputs) {
  if constexpr (std::is_base_of_v<nn::Module, Model>)
    return nn::call_forward(model, inputs...);
  else if constexpr (requires { model(inputs...); })
    return model(inputs...);
  else if constexpr (requires { model->forward(inputs...); })
    return nn::call_forward(*model, inputs...);
  else
    return model.template forward<Tensor>(inputs...);
}

/// Appends the tensors in a value: a tensor, or nested optionals, lists, tuples and dicts.
template <class T>
void append_tensors(std::vector<Tensor>& to, T value) {
  visit_tensors(value, [&to](const Tensor& tensor) {
    if (tensor.defined()) to.push_back(tensor);
  });
}

}  // namespace detail

/// Calls the model once on the inputs, in evaluation mode and without gradients, and returns the
/// ops that it ran. An op's module is recorded if it is called through a holder, a Sequential, an
/// AnyModule or call_forward().
template <class Model, class... Inputs>
Graph trace(Model& model, const Inputs&... inputs) {
  std::vector<Tensor> tensors, results;
  (detail::append_tensors(tensors, inputs), ...);
  detail::Tracer tracer(detail::module_of(model), tensors);
  detail::append_tensors(results, detail::call_model(model, inputs...));
  return tracer.finish(results);
}

}  // namespace hearth::utils
