#include <hearth/hearth.h>

#include <cstdio>

int main() {
  const hearth::Tensor x = hearth::ones({3}, hearth::requires_grad());
  (x + 2 * x).sum().backward();
  std::printf("%s\n", hearth::to_string(x.grad()).c_str());
}
