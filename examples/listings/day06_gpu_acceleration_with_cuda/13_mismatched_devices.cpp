#include "../listing.h"

void listing() {
  // Define device
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");

  // Create tensors on different devices
  auto tensor_cpu = torch::randn({2, 2});
  auto tensor_gpu = torch::randn({2, 2}).to(device);

  // Attempt to add tensors
  torch::Tensor result;
  try {
    result = tensor_cpu + tensor_gpu;
  } catch (const c10::Error& e) {
    std::cout << "\nError with mismatched devices: " << e.what_without_backtrace() << '\n';
  }

  // Corrected: Move tensor_cpu to GPU
  if (device.type() == torch::kCUDA) tensor_cpu = tensor_cpu.to(device);

  // Now add tensors
  result = tensor_cpu + tensor_gpu;
  std::cout << "\nAddition Result:\n " << result << '\n';
}

int main() { return run(listing); }
