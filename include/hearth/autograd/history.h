#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "hearth/autograd.h"
#include "hearth/autograd/node_hooks.h"
#include "hearth/autograd_hooks.h"

namespace hearth::autograd {

namespace arguments {

/// Calls visit() with each tensor of an argument: a tensor, an optional one, or a list of them. An
/// empty optional counts as an undefined tensor.
template <class T, class Visit>
void for_each_tensor(const T& argument, const Visit& visit) {
  if constexpr (std::is_convertible_v<const T&, const Tensor&>) {
    visit(static_cast<const Tensor&>(argument));
  } else if constexpr (std::is_convertible_v<const T&, const Tensor*>) {
    visit(*argument);
  } else if constexpr (std::is_same_v<T, std::optional<Tensor>>) {
    visit(argument ? *argument : Tensor());
  } else {
    for (const auto& element : argument) for_each_tensor(element, visit);
  }
}

inline void add_edge(edge_list& edges, const Tensor& tensor) {
  edges.push_back(tensor.defined() ? gradient_edge(tensor) : Edge());
}

}  // namespace arguments

/// Whether tensors of this dtype can require gradients.
inline bool isDifferentiableType(ScalarType type) { return is_differentiable(type); }
/// One edge per tensor of the arguments (tensors, optional ones, lists), for Node::set_next_edges.
template <class... Tensors>
edge_list collect_next_edges(const Tensors&... tensors) {
  edge_list edges;
  const auto add = [&](const Tensor& tensor) { arguments::add_edge(edges, tensor); };
  (arguments::for_each_tensor(tensors, add), ...);
  return edges;
}
/// Whether one of the tensors requires a gradient.
HEARTH_API bool any_variable_requires_grad(const variable_list& variables);
/// The same for any arguments, but false if recording is off.
template <class... Tensors>
bool compute_requires_grad(const Tensors&... tensors) {
  bool found = false;
  const auto look = [&](const Tensor& tensor) { found |= tensor.requires_grad(); };
  if (GradMode::is_enabled()) (arguments::for_each_tensor(tensors, look), ...);
  return found;
}
/// The tensors of the arguments as a list, without empty optionals.
template <class... Tensors>
variable_list flatten_tensor_args(const Tensors&... tensors) {
  variable_list list;
  const auto add = [&](const auto& argument) {
    if constexpr (requires { argument.has_value(); }) {
      if (argument) list.push_back(*argument);
    } else {
      arguments::for_each_tensor(argument, [&](const Tensor& tensor) { list.push_back(tensor); });
    }
  };
  (add(tensors), ...);
  return list;
}

/// Makes the tensor the node's next output; an undefined one only counts.
HEARTH_API void set_history(const Tensor& variable, const NodePtr& grad_fn);
HEARTH_API void set_history(const variable_list& variables, const NodePtr& grad_fn);
/// The same for a tensor of any dtype.
HEARTH_API void create_gradient_edge(Tensor& variable, const NodePtr& function);
/// set_history() after an in-place write: rewrites the history of a view's base. Returns the node.
HEARTH_API NodePtr rebase_history(const Tensor& variable, const NodePtr& grad_fn);
HEARTH_API NodePtr rebase_history(const variable_list& variables, const NodePtr& grad_fn);
/// Counts an in-place write to the tensor.
HEARTH_API void increment_version(const Tensor& tensor);
/// Throws PyTorch's errors if `tensor` may not be written to now.
HEARTH_API void check_inplace(const Tensor& tensor, bool will_require_grad);
/// Throws if recording is on and the tensor, argument `name` of `function`, requires a gradient.
HEARTH_API void check_no_requires_grad(const Tensor& tensor, const char* name,
                                       const char* function = "", bool check_grad_mode = true);
/// Throws unless there are `args` inputs, of which the first `required_args` (all if negative) are
/// defined.
HEARTH_API void check_input_variables(const char* name, const variable_list& inputs, int args,
                                      int required_args = -1, bool allow_undefined = false);
/// Creates a node from edges.
using function_constructor = std::function<NodePtr(edge_list&&)>;
/// The outputs without history or, if an input requires a gradient, as outputs of a new node.
HEARTH_API variable_list wrap_outputs(const variable_list& inputs, variable_list&& outputs,
                                      const function_constructor& constructor);

/// The origin of a view, which determines whether in-place writes to it are allowed.
enum class CreationMeta : uint8_t {
  DEFAULT,
  IN_CUSTOM_FUNCTION,
  MULTI_OUTPUT_NODE,
  NO_GRAD_MODE,
  INFERENCE_MODE
};
/// The origin of a view of a view.
inline CreationMeta propagate_creation_meta(CreationMeta outer, CreationMeta inner) {
  const bool keeps_outer = inner == CreationMeta::DEFAULT || outer == CreationMeta::INFERENCE_MODE;
  return keeps_outer ? outer : inner;
}
/// Records that `tensor`, new and without history, is a view of `base`. The functions between base
/// and view, which LibTorch needs for some views, are not used.
HEARTH_API Tensor as_view(const Tensor& base, const Tensor& tensor, bool is_bw_differentiable,
                          bool is_fw_differentiable,
                          const std::function<Tensor(const Tensor&)>& view_func = nullptr,
                          const std::function<Tensor(const Tensor&)>& rev_view_func = nullptr,
                          CreationMeta creation_meta = CreationMeta::DEFAULT,
                          bool allow_tensor_metadata_change = true);

/// The version of a tensor and of those that share its memory.
class HEARTH_API VariableVersion {
 public:
  explicit VariableVersion(Tensor owner) : owner_(std::move(owner)) {}
  uint32_t current_version() const;
  void bump() { increment_version(owner_); }

 private:
  friend struct VersionAccess;
  Tensor owner_;
};

namespace impl {

using autograd::gradient_edge;
/// Makes the tensor output edge.input_nr of edge.function.
HEARTH_API void set_gradient_edge(const Tensor& tensor, Edge edge);
/// The node that accumulates into a leaf; null if it requires no gradient.
HEARTH_API NodePtr grad_accumulator(const Tensor& leaf);
HEARTH_API NodePtr try_get_grad_accumulator(const Tensor& leaf);  ///< null if there is none yet
HEARTH_API Node* grad_fn_unsafe(const Tensor& tensor);            ///< grad_fn(), without an owner
HEARTH_API NodePtr rebase_history(const Tensor& tensor, Edge edge);
HEARTH_API void bump_version(const Tensor& tensor);
HEARTH_API VariableVersion version_counter(const Tensor& tensor);
/// Makes the tensor count its versions together with another one.
HEARTH_API void set_version_counter(const Tensor& tensor, const VariableVersion& version);
HEARTH_API void set_name(const Tensor& tensor, const std::string& name);
/// Calls the hook with a list of the tensor's gradient.
HEARTH_API void add_hook(const Tensor& tensor, std::unique_ptr<FunctionPreHook> hook);
HEARTH_API void clear_hooks(const Tensor& tensor);  ///< removes the hooks of the tensor
/// Replaces the hooks that run after a leaf's gradient was accumulated.
HEARTH_API void set_post_acc_grad_hooks(const Tensor& leaf,
                                        std::unique_ptr<PostAccumulateGradHook> hook);

}  // namespace impl
}  // namespace hearth::autograd
