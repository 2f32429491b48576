#include <torch/torch.h>

int main() {
  torch::Tensor x = torch::ones({3}, torch::requires_grad());
  (x + 2 * x).sum().backward();
  std::cout << x.grad() << std::endl;
}
