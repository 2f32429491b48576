#include "../listing.h"

void listing() {
  // Create a tensor on the CPU
  auto cpu_tensor = torch::randn({1, 3, 224, 224});

  // Move the tensor to the GPU
  auto gpu_tensor = cpu_tensor.to("cuda");

  std::cout << gpu_tensor.sizes() << ' ' << gpu_tensor.device() << '\n';
}

int main() { return run(listing); }
