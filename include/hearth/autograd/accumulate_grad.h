#pragma once

#include "hearth/autograd.h"

namespace hearth::autograd {

/// Adds gradients to a leaf. There is one per leaf in the graph; the leaf holds a weak pointer to
/// it.
class HEARTH_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf);
  ~AccumulateGrad() override;
  std::string name() const override { return "torch::autograd::AccumulateGrad"; }
  variable_list apply(variable_list&& grads) override;
  void run_leaf_hooks(Tensor& grad);  ///< runs the hooks registered on the leaf

  Tensor variable;  ///< the leaf

 private:
  void accumulate(Tensor grad);
};

}  // namespace hearth::autograd
