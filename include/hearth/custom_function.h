#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/ivalue.h"
#include "hearth/owned_ptr.h"

namespace hearth::autograd {

class CustomNode;

/// Passes tensors and values from a custom function's forward to its backward.
class HEARTH_API AutogradContext {
 public:
  AutogradContext();
  ~AutogradContext();
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Values other than inputs and outputs, which belong in save_for_backward. No lock is held
  /// during backward: a backward that modifies them needs its own lock if threads share the graph.
  std::unordered_map<std::string, IValue> saved_data;

  /// Saves inputs and outputs, which may be undefined. Call it once, in forward.
  void save_for_backward(variable_list to_save);
  /// The saved tensors in the same order; throws if they were freed or modified in place.
  variable_list get_saved_variables() const;
  /// Declares that forward modified these inputs in place; forward must return them.
  void mark_dirty(const variable_list& inputs);
  void mark_non_differentiable(const variable_list& outputs);  ///< outputs that have no gradient
  /// Whether backward receives undefined gradients as zeros (default: yes).
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  bool needs_input_grad(size_t output_edge_index) const;  ///< whether this input needs a gradient
  /// Whether any input in the ranges needs a gradient.
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

 private:
  friend class CustomNode;
  struct Saved;
  CustomNode* node_ = nullptr;
  hearth::detail::OwnedPtr<Saved> saved_;
  variable_list to_save_, dirty_, non_differentiable_;
  bool materialize_grads_ = true;
};

/// Base of all custom functions' nodes, independent of the function type.
class HEARTH_API CustomNode : public Node {
 public:
  CustomNode();
  ~CustomNode() override;
  std::string name() const override;
  void release_variables() override;
  AutogradContext& context() { return context_; }

  /// Adds an argument of Function::apply(). The gradient of an argument that is not a tensor is
  /// undefined.
  template <class T>
  void add_argument(const T&) {
    add_other_argument();
  }
  void add_argument(const Tensor& tensor);
  void add_argument(const std::optional<Tensor>& tensor);
  void add_argument(const TensorList& tensors);
  void add_argument(const variable_list& tensors) { add_argument(TensorList(tensors)); }
  void connect();  ///< after all arguments: links the node to their history if recording is enabled
  void finish(variable_list& outputs);  ///< makes the node the grad_fn of forward's outputs

 protected:
  variable_list apply(variable_list&& grads) override;
  virtual variable_list call_backward(AutogradContext* context, variable_list grads) = 0;

 private:
  friend class AutogradContext;
  void add_other_argument();
  void finish_output(Tensor& output, bool only_output);
  void rebase_input(const Tensor& input, uint32_t number, bool only_output);
  void cut_history(Tensor& output, bool is_input, bool is_dirty) const;
  void save();
  variable_list checked(variable_list results) const;

  AutogradContext context_;
  struct Call;  // the arguments and results of forward
  hearth::detail::OwnedPtr<Call> call_;
  bool recorded_ = false;
  bool released_ = false;
};

/// The node of the custom function T.
template <class T>
class CppNode final : public CustomNode {
 protected:
  variable_list call_backward(AutogradContext* context, variable_list grads) override {
    return T::backward(context, std::move(grads));
  }
};

/// Base of custom functions: `struct F : Function<F>` has static `forward(AutogradContext*,
/// args…)`, which returns a tensor or a list of tensors, and `backward(AutogradContext*,
/// variable_list)`, which returns one gradient per argument (of a list: per tensor).
/// `F::apply(args…)` calls and records F.
template <class T>
struct Function {
  /// Calls forward(context, args…) and records the call for backward.
  template <class Self = T, class... Args>
  static auto apply(Args&&... args) {
    using Result = std::decay_t<decltype(Self::forward(nullptr, std::forward<Args>(args)...))>;
    const auto node = IntrusivePtr<CppNode<Self>>::adopt(new CppNode<Self>);
    (node->add_argument(args), ...);
    node->connect();
    const auto forward = [&] {
      const AutoGradMode no_grad(false);
      return Self::forward(&node->context(), std::forward<Args>(args)...);
    };
    if constexpr (std::is_base_of_v<Tensor, Result>) {
      variable_list outputs{forward()};
      node->finish(outputs);
      return std::move(outputs[0]);
    } else {
      static_assert(std::is_same_v<Result, variable_list>,
                    "forward must return a Tensor or a vector of tensors");
      variable_list outputs = forward();
      node->finish(outputs);
      return outputs;
    }
  }
};

}  // namespace hearth::autograd
