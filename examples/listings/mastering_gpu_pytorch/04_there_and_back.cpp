#include "../listing.h"

void listing() {
  // Create a tensor on the CPU
  auto cpu_tensor = torch::randn({1, 3, 224, 224});
  auto original = cpu_tensor;

  // Move the tensor to the GPU
  auto gpu_tensor = cpu_tensor.to("cuda");

  // Move the tensor back to the CPU
  cpu_tensor = gpu_tensor.to("cpu");

  std::cout << std::boolalpha << cpu_tensor.device()
            << ", unchanged: " << torch::equal(cpu_tensor, original) << '\n';
}

int main() { return run(listing); }
