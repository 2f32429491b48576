#pragma once

#include <torch/torch.h>

#include "timing.h"

/// The part that listings 4 and 5 share: multiplies the matrices on the CPU and, if they are on a
/// GPU, also there.
inline void benchmark_matmul(const torch::Tensor& tensor_a, const torch::Tensor& tensor_b) {
  auto device = tensor_a.device();

  // Warm-up (for GPU to initialize)
  if (device.is_cuda()) {
    torch::matmul(tensor_a, tensor_b);
    torch::cuda::synchronize();
  }

  // Move tensors to CPU for comparison
  auto tensor_a_cpu = tensor_a.to("cpu");
  auto tensor_b_cpu = tensor_b.to("cpu");

  // CPU Benchmark
  auto start_time = now();
  auto result_cpu = torch::matmul(tensor_a_cpu, tensor_b_cpu);
  auto end_time = now();
  print_time("\nCPU Matrix Multiplication Time", end_time - start_time);

  if (device.is_cuda()) {
    // GPU Benchmark
    start_time = now();
    auto result_gpu = torch::matmul(tensor_a, tensor_b);
    torch::cuda::synchronize();  // Wait for GPU operations to finish
    end_time = now();
    print_time("GPU Matrix Multiplication Time", end_time - start_time);

    // Compare results (optional)
    auto difference = torch::abs(result_cpu - result_gpu.cpu()).max();
    std::cout << "Maximum difference between CPU and GPU results: " << difference.item<float>()
              << '\n';
  }
}
