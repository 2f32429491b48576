// Functions with custom gradients: rounding that passes gradients through, and a function that
// saves a tensor for its gradient.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;
using autograd::AutogradContext;
using autograd::variable_list;

/// Rounds. The derivative is 0 almost everywhere; backward uses 1 instead, so that training works.
struct StraightThroughRound : autograd::Function<StraightThroughRound> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x.round(); }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};

/// exp(x) - shift. The derivative is exp(x), which forward saves.
struct ShiftedExp : autograd::Function<ShiftedExp> {
  static Tensor forward(AutogradContext* context, const Tensor& x, double shift) {
    Tensor result = x.exp();
    context->save_for_backward({result});
    context->saved_data["shift"] = shift;  // for values that are not tensors
    return result - shift;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const Tensor exponential = context->get_saved_variables()[0];
    return {grads[0] * exponential, Tensor()};  // one gradient per argument of forward
  }
};

int main() {
  Tensor x = tensor({0.2, 0.8, 1.4}).requires_grad_();

  Tensor rounded = StraightThroughRound::apply(x);
  std::cout << rounded << '\n';
  (rounded * rounded).sum().backward();
  std::cout << x.grad() << '\n';

  // The gradient agrees with a finite difference.
  x.mutable_grad().zero_();
  ShiftedExp::apply(x, 1.0).sum().backward();
  const double step = 1e-3;
  Tensor difference = (ShiftedExp::apply(x + step, 1.0) - ShiftedExp::apply(x - step, 1.0));
  std::cout << std::boolalpha << allclose(x.grad(), difference / (2 * step), 1e-2) << '\n';
}
