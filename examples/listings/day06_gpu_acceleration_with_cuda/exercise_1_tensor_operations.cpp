#include "../listing.h"
#include "timing.h"

void listing(int64_t size) {
  // Step 1: Check GPU availability
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  std::cout << "Using device: " << device << '\n';

  // Step 2: Create a large tensor on CPU
  auto tensor_a = torch::randn({size, size});
  auto tensor_b = torch::randn({size, size});

  // Step 3: Move tensors to GPU
  torch::Tensor tensor_a_gpu, tensor_b_gpu;
  if (device.type() == torch::kCUDA) {
    tensor_a_gpu = tensor_a.to(device);
    tensor_b_gpu = tensor_b.to(device);
  }

  // Step 4: Perform matrix multiplication on CPU
  auto start_time = now();
  auto result_cpu = torch::matmul(tensor_a, tensor_b);
  print_time("\nCPU Matrix Multiplication Time", now() - start_time);

  if (device.type() == torch::kCUDA) {
    // Warm-up GPU
    torch::matmul(tensor_a_gpu, tensor_b_gpu);
    torch::cuda::synchronize();

    // Perform matrix multiplication on GPU
    start_time = now();
    auto result_gpu = torch::matmul(tensor_a_gpu, tensor_b_gpu);
    torch::cuda::synchronize();
    print_time("GPU Matrix Multiplication Time", now() - start_time);

    // Compare results
    auto difference = torch::abs(result_cpu - result_gpu.cpu()).max();
    std::cout << "Maximum difference between CPU and GPU results: " << difference.item<float>()
              << '\n';
  }
}

// exercise_1_tensor_operations [size]
int main(int argc, char** argv) {
  return run([&] { listing(argc > 1 ? std::stoll(argv[1]) : 5000); });
}
