#include "../listing.h"

void listing() {
  // Define device
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  std::cout << "Using device: " << device << '\n';

  // Create a tensor on CPU
  auto cpu_tensor = torch::randn({3, 3});
  std::cout << "\nCPU Tensor:\n " << cpu_tensor << '\n';

  // Move tensor to GPU
  if (device.type() == torch::kCUDA) {
    auto gpu_tensor = cpu_tensor.to(device);
    std::cout << "\nGPU Tensor:\n " << gpu_tensor << '\n';
    std::cout << std::boolalpha << "\nIs gpu_tensor on GPU? " << gpu_tensor.is_cuda() << '\n';
  }
}

int main() { return run(listing); }
