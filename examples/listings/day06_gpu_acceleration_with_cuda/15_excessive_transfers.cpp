#include "../listing.h"
#include "timing.h"

void listing() {
  // Define device
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  std::cout << "Using device: " << device << '\n';

  // Create a large tensor
  auto large_tensor = torch::randn({1000, 1000});

  // Move tensor to GPU and back to CPU repeatedly
  auto start_time = now();
  for (auto i = 0; i < 100; ++i) {
    auto tensor_gpu = large_tensor.to(device);
    auto tensor_cpu = tensor_gpu.to("cpu");
  }
  auto end_time = now();
  print_time("\nTime taken for excessive data transfers", end_time - start_time);

  // Optimized: Move tensor to GPU once
  if (device.type() == torch::kCUDA) large_tensor = large_tensor.to(device);

  // Perform operations on GPU without moving back and forth
  start_time = now();
  for (auto i = 0; i < 100; ++i) auto result = large_tensor * 2;  // Example operation
  if (device.type() == torch::kCUDA) torch::cuda::synchronize();
  end_time = now();
  print_time("\nTime taken for operations on GPU", end_time - start_time);
}

int main() { return run(listing); }
