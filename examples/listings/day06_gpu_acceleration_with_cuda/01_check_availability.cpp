#include "../listing.h"

void listing() {
  // Check if CUDA is available
  auto cuda_available = torch::cuda::is_available();
  std::cout << std::boolalpha << "Is CUDA available? " << cuda_available << '\n';

  // Get the number of GPUs available
  auto num_gpus = torch::cuda::device_count();
  std::cout << "Number of GPUs available: " << num_gpus << '\n';

  // Get the name of the current GPU
  if (cuda_available) {
    auto current_gpu = torch::cuda::get_device_name(0);
    std::cout << "Current GPU: " << current_gpu << '\n';
  }

  // Handling Multiple GPUs
  if (cuda_available && num_gpus > 1) {
    // Select GPU with index 1
    auto device = torch::Device("cuda:1");
    std::cout << "Selected Device: " << torch::cuda::get_device_name(device.index()) << '\n';
  } else {
    auto device = torch::Device(cuda_available ? "cuda:0" : "cpu");
    std::cout << "Selected Device: "
              << (cuda_available ? torch::cuda::get_device_name(device.index()) : "CPU") << '\n';
  }
}

int main() { return run(listing); }
