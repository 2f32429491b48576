#include "../listing.h"

void listing() {
  // Check CUDA availability
  auto cuda_available = torch::cuda::is_available();
  std::cout << std::boolalpha << "Is CUDA available? " << cuda_available << '\n';

  // Create a tensor on CPU
  auto tensor_cpu = torch::randn({2, 2});
  std::cout << "\nTensor on CPU:\n " << tensor_cpu << '\n';

  if (cuda_available) {
    // Move tensor to GPU
    auto tensor_gpu = tensor_cpu.cuda();
    std::cout << "\nTensor on GPU:\n " << tensor_gpu << '\n';
    std::cout << "\nIs tensor_gpu on GPU? " << tensor_gpu.is_cuda() << '\n';

    // Move tensor back to CPU
    auto tensor_back = tensor_gpu.cpu();
    std::cout << "\nTensor moved back to CPU:\n " << tensor_back << '\n';
    std::cout << "\nIs tensor_back on GPU? " << tensor_back.is_cuda() << '\n';
  }
}

int main() { return run(listing); }
