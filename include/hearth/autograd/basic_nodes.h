#pragma once

#include <string>

#include "hearth/autograd/history.h"

// LibTorch's nodes that programs use in their own graphs.
namespace hearth::autograd {

/// Throws when backward reaches it.
class HEARTH_API Error : public Node {
 public:
  explicit Error(std::string text, edge_list&& next_edges = {});
  variable_list apply(variable_list&& inputs) override;
  std::string msg;
};

/// Throws that the function has no derivative.
class HEARTH_API NotImplemented : public Error {
 public:
  explicit NotImplemented(const std::string& forward_fn, edge_list&& next_edges = {})
      : Error("derivative for " + forward_fn + " is not implemented", std::move(next_edges)) {}
};

/// In forward, returns its inputs; backward throws.
class HEARTH_API DelayedError : public Node {
 public:
  DelayedError(std::string text, int64_t num_inputs);
  variable_list apply(variable_list&& inputs) override;
  std::string msg;
};

/// Returns undefined gradients.
class HEARTH_API UndefinedGradBackward : public Node {
 public:
  using Node::Node;
  std::string name() const override { return "UndefinedGradBackward"; }
  variable_list apply(variable_list&& inputs) override;
};

/// The node that starts a backward pass: returns the gradients of the roots.
class HEARTH_API GraphRoot : public Node {
 public:
  GraphRoot(edge_list functions, variable_list inputs);
  variable_list apply(variable_list&& inputs) override;
  variable_list outputs;
};

/// Returns its inputs.
class HEARTH_API Identity : public Node {
 public:
  variable_list apply(variable_list&& inputs) override;
};

}  // namespace hearth::autograd
