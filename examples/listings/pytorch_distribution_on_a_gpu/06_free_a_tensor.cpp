#include "../listing.h"

void listing() {
  auto device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  auto tensor = torch::ones({1024, 1024}, device);

  // Check if your tensor is on the GPU
  std::cout << std::boolalpha << tensor.is_cuda() << '\n';
  std::cout << torch::cuda::memory_allocated() << " bytes in use\n";

  // Drop the last reference, in Python: del tensor
  tensor.reset();
  std::cout << torch::cuda::memory_allocated() << " bytes in use\n";

  // Return the memory to the GPU
  torch::cuda::empty_cache();
  std::cout << torch::cuda::memory_reserved() << " bytes reserved\n";
}

int main() { return run(listing); }
