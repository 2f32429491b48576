#include "../listing.h"
#include "timing.h"

void listing(int64_t size) {
  // Define device
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  std::cout << "Using device: " << device << '\n';

  // Create a large tensor
  auto large_tensor = torch::randn({size, size});

  // Inefficient: Moving individual rows
  auto start_time = now();
  for (const auto& row : large_tensor.unbind()) auto row_gpu = row.to(device);
  auto end_time = now();
  print_time("Inefficient Data Transfer Time", end_time - start_time);

  // Efficient: Moving the entire tensor at once
  start_time = now();
  auto large_tensor_gpu = large_tensor.to(device);
  end_time = now();
  print_time("Efficient Data Transfer Time", end_time - start_time);
}

// 11_minimize_transfers [size]
int main(int argc, char** argv) {
  return run([&] { listing(argc > 1 ? std::stoll(argv[1]) : 10000); });
}
