// Tensors: creation, arithmetic, shapes, indexing and views.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;
using namespace hearth::indexing;

int main() {
  // From numbers, by a rule, or at random. With the same seed, the random numbers are PyTorch's.
  Tensor a = tensor({{1., 2., 3.}, {4., 5., 6.}});
  Tensor b = arange(6, kFloat).reshape({2, 3});
  manual_seed(0);
  Tensor c = rand({2, 3});
  std::cout << a << '\n' << b << '\n' << c << '\n';

  // Elementwise, with numbers, and as matrices.
  std::cout << a + b * 2 << '\n';
  std::cout << a.mm(b.t()) << '\n';

  // Shapes are broadcast: the row is added to each row of a.
  Tensor row = tensor({10., 20., 30.});
  std::cout << a + row << '\n';

  // Reductions over all elements or along one dimension.
  std::cout << a.mean() << ' ' << a.sum(/*dim=*/0) << ' ' << a.argmax().item<int64_t>() << '\n';

  // a[:, 1:] in Python. A view shares memory: writing to it changes a.
  Tensor right = a.index({Slice(), Slice(1, None)});
  right.zero_();
  a[0][0] = 7;
  std::cout << a << '\n';

  // item() reads a one-element tensor; to() converts the dtype.
  const double first = a[0][0].item<double>();
  std::cout << first << ' ' << a.dtype() << ' ' << a.to(kLong).dtype() << '\n';

  // Incompatible shapes are an error.
  try {
    a + ones({2, 2});
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
