#include "../listing.h"

void listing() {
  // Check CUDA availability
  auto cuda_available = torch::cuda::is_available();
  std::cout << std::boolalpha << "Is CUDA available? " << cuda_available << '\n';

  if (cuda_available) {
    auto num_gpus = torch::cuda::device_count();
    std::cout << "Number of GPUs available: " << num_gpus << '\n';
    for (auto i = 0; i < num_gpus; ++i)
      std::cout << "GPU " << i << ": " << torch::cuda::get_device_name(i) << '\n';
  } else {
    std::cout << "No CUDA-compatible GPU found.\n";
  }
}

int main() { return run(listing); }
