// A function with a gradient of its own: rounding that lets gradients through, and one that saves
// what its gradient needs.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;
using autograd::AutogradContext;
using autograd::variable_list;

/// Rounds. Its derivative is 0 almost everywhere; for training it is taken as 1.
struct StraightThroughRound : autograd::Function<StraightThroughRound> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x.round(); }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};

/// exp(x) - shift, whose derivative is known once exp(x) is.
struct ShiftedExp : autograd::Function<ShiftedExp> {
  static Tensor forward(AutogradContext* context, const Tensor& x, double shift) {
    Tensor result = x.exp();
    context->save_for_backward({result});
    context->saved_data["shift"] = shift;  // whatever is no tensor
    return result - shift;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const Tensor exponential = context->get_saved_variables()[0];
    return {grads[0] * exponential, Tensor()};  // one for each argument of forward
  }
};

int main() {
  Tensor x = tensor({0.2, 0.8, 1.4}).requires_grad_();

  Tensor rounded = StraightThroughRound::apply(x);
  std::cout << rounded << '\n';
  (rounded * rounded).sum().backward();
  std::cout << x.grad() << '\n';

  // The gradient agrees with a small step's.
  x.mutable_grad().zero_();
  ShiftedExp::apply(x, 1.0).sum().backward();
  const double step = 1e-3;
  Tensor difference = (ShiftedExp::apply(x + step, 1.0) - ShiftedExp::apply(x - step, 1.0));
  std::cout << std::boolalpha << allclose(x.grad(), difference / (2 * step), 1e-2) << '\n';
}
