#include "../listing.h"
#include "matmul_benchmark.h"

void listing(int64_t size) {
  // Define device
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  std::cout << "Using device: " << device << '\n';

  // Create smaller tensors
  auto tensor_a = torch::randn({size, size}, device);
  auto tensor_b = torch::randn({size, size}, device);

  benchmark_matmul(tensor_a, tensor_b);
}

// 05_small_matmul [size]
int main(int argc, char** argv) {
  return run([&] { listing(argc > 1 ? std::stoll(argv[1]) : 1000); });
}
