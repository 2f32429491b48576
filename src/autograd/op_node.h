#pragma once

#include "autograd/saved_tensor.h"
#include "core/modes.h"
#include "core/op.h"
#include "hearth/autograd.h"

namespace hearth::autograd {

/// The history of one op call: the op's record, its arguments and the saved tensors. It stores them
/// as data, not in a closure, so that they can be released, packed by hooks or offloaded.
class OpNode final : public Node {
 public:
  /// `saves`: the inputs and outputs that backward may read; `edgeless`: inputs that never have a
  /// gradient and so get no edge (an index, the number in x * 2).
  OpNode(const OpRecord& op, const void* args, int inputs, SlotSet saves, SlotSet edgeless);
  void save_input(int i, const Tensor& tensor);
  void save_output(int i, const Tensor& tensor);
  /// Keeps the metadata of input i.
  void keep_shape(int i, const Tensor& tensor);
  std::string name() const override;
  void release_variables() override;
  /// A saved input or output; throws if backward has freed it.
  Tensor saved_input(int i) { return saved(i); }
  Tensor saved_output(int i) { return saved(~i); }
  /// A tensor without memory with the kept metadata of input i; undefined if none was kept.
  const Tensor& kept_shape(int i) const;
  int op_inputs() const { return num_op_inputs_; }
  /// The edge of input i, or -1.
  int edge_of(int i) const;
  const OpRecord& op() const { return args_.op(); }

 protected:
  variable_list apply(variable_list&& grads) override;

 private:
  struct Saved {
    Saved(int saved_operand, const Tensor& value)
        : operand(saved_operand),
          tensor(value, operand < 0, operand < 0 ? uint32_t(~operand) : 0) {}
    int operand;  // i for input i, ~i for output i
    SavedTensor tensor;
  };
  struct Shape {
    int input;
    Tensor tensor;  // without memory
  };
  Tensor saved(int operand);
  OpArgs args_;
  SmallVector<Saved, 2> saved_;
  std::vector<Shape> shapes_;
  SlotSet saves_, edgeless_;
  int num_op_inputs_;
  bool released_ = false;
};

/// A saved tensor as an op's derivative reads it. The gradient of an analytic function f is
/// grad * conj(f'(x)), and conj(f'(x)) is f'(conj(x)).
inline Tensor conjugated_for(const OpRecord& op, const Tensor& saved) {
  const bool needed =
      saved.defined() && saved.is_complex() && complex_grad_of(op) == ComplexGrad::kAnalytic;
  return needed ? saved.conj() : saved;
}

}  // namespace hearth::autograd
