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

/// Half-open: [first, second).
using IndexRange = std::pair<size_t, size_t>;

class CustomNode;

/// What a custom function keeps from forward for backward.
class HEARTH_API AutogradContext {
 public:
  AutogradContext();
  ~AutogradContext();
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Anything but inputs and outputs, which belong into save_for_backward. No lock is held while
  /// backward runs, so a backward that changes this must take one if threads share the graph.
  std::unordered_map<std::string, IValue> saved_data;

  /// Keeps inputs and outputs; undefined ones are allowed. Call it once, from forward.
  void save_for_backward(variable_list to_save);
  /// What was saved, in that order; throws if it was freed or modified in place since.
  variable_list get_saved_variables() const;
  /// Says that forward modified these inputs in place; it must return them.
  void mark_dirty(const variable_list& inputs);
  void mark_non_differentiable(const variable_list& outputs);
  /// Whether undefined gradients reach backward as zeros; they do unless set to false.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Whether the backward pass wants the gradient of this tensor argument (or of any in the
  /// ranges).
  bool needs_input_grad(size_t output_edge_index) const;
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

 private:
  friend class CustomNode;
  struct Saved;
  CustomNode* node_ = nullptr;
  hearth::detail::OwnedPtr<Saved> saved_;
  variable_list to_save_, dirty_, non_differentiable_;
  bool materialize_grads_ = true;
};

/// Everything about a custom function's node that does not depend on the function.
class HEARTH_API CustomNode : public Node {
 public:
  CustomNode();
  std::string name() const override;
  void release_variables() override;
  AutogradContext& context() { return context_; }

  /// One argument of apply. Backward returns an undefined gradient for what is no tensor.
  template <class T>
  void add_argument(const T&) {
    is_tensor_.push_back(false);
  }
  void add_argument(const Tensor& tensor);
  void add_argument(const std::optional<Tensor>& tensor);
  void add_argument(const TensorList& tensors);
  void add_argument(const variable_list& tensors) { add_argument(TensorList(tensors)); }
  /// After the arguments: decides whether the call is recorded and links it to their history.
  void connect();
  /// Gives forward's results their history.
  void finish(variable_list& outputs);

 protected:
  variable_list apply(variable_list&& grads) override;
  virtual variable_list call_backward(AutogradContext* context, variable_list grads) = 0;

 private:
  friend class AutogradContext;
  void finish_output(Tensor& output, bool only_output);
  void rebase_input(const Tensor& input, uint32_t number, bool only_output);
  void cut_history(Tensor& output, bool is_input, bool is_dirty) const;
  void save();
  variable_list checked(variable_list results) const;

  AutogradContext context_;
  std::vector<bool> is_tensor_;
  variable_list inputs_;  // of the running forward only
  std::vector<InputMetadata> output_info_;
  bool recorded_ = false;
  bool released_ = false;
};

/// The node of function T.
template <class T>
class CppNode final : public CustomNode {
 protected:
  variable_list call_backward(AutogradContext* context, variable_list grads) override {
    return T::backward(context, std::move(grads));
  }
};

/// Base of custom functions: `struct F : Function<F>` has static `forward(AutogradContext*,
/// args…)`, which returns a tensor or a list of them, and `backward(AutogradContext*,
/// variable_list)`, which returns one gradient per argument. `F::apply(args…)` calls and records
/// it.
template <class T>
struct Function {
  template <class Self = T, class... Args>
  static auto apply(Args&&... args) {
    using Result = std::decay_t<decltype(Self::forward(nullptr, std::forward<Args>(args)...))>;
    const auto node = IntrusivePtr<CppNode<Self>>::adopt(new CppNode<Self>);
    (node->add_argument(args), ...);
    node->connect();
    const auto forward = [&] {
      const AutoGradMode off(false);
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
