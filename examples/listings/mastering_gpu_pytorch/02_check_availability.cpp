#include "../listing.h"

void listing() {
  // Check if a GPU is available
  std::cout << std::boolalpha << "GPU available: " << torch::cuda::is_available() << '\n';

  // Get the number of available GPUs
  std::cout << "Number of available GPUs: " << torch::cuda::device_count() << '\n';

  // Get the name of the current GPU
  auto current_gpu = torch::cuda::get_device_name(0);
  std::cout << "Current GPU: " << current_gpu << '\n';
}

int main() { return run(listing); }
