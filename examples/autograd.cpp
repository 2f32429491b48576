// Autograd: gradients of a computation.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

int main() {
  // Operations on a tensor that requires a gradient are recorded.
  Tensor x = tensor({1., 2., 3.}).requires_grad_();
  Tensor y = (x * x).sum();
  std::cout << y << '\n';

  // y = x1² + x2² + x3², so dy/dx = 2x.
  y.backward();
  std::cout << x.grad() << '\n';

  // Gradients accumulate until they are cleared.
  (x * x).sum().backward();
  std::cout << x.grad() << '\n';
  x.mutable_grad().zero_();

  // Nothing is recorded under a NoGradGuard.
  {
    NoGradGuard no_grad;
    x -= 0.5;
    std::cout << std::boolalpha << (x * 2).requires_grad() << '\n';
  }

  // autograd::grad returns gradients instead of accumulating them. With create_graph the gradients
  // can be differentiated again.
  Tensor cube = x.pow(3).sum();
  Tensor first = autograd::grad({cube}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  Tensor second = autograd::grad({first.sum()}, {x})[0];
  std::cout << first << '\n' << second << '\n';

  // A hook receives a tensor's gradient during backward and may replace it.
  Tensor w = ones({2}).requires_grad_();
  w.register_hook([](const Tensor& grad) { return grad.clamp(-1, 1); });
  (w * tensor({5., 0.5})).sum().backward();
  std::cout << w.grad() << '\n';

  // A second backward through a freed graph is an error.
  try {
    cube.backward();
    cube.backward();
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
