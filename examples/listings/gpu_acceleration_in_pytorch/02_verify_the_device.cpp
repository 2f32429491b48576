#include "../listing.h"

void listing() {
  auto tensor_gpu = torch::zeros({100, 100}).to("cuda");

  std::cout << tensor_gpu.device() << '\n';
}

int main() { return run(listing); }
