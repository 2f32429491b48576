#include "../listing.h"

void listing() {
  auto gpu = torch::cuda::get_device_properties(0);

  std::cout << "GPU_MODEL = " << gpu.name << '\n';
  std::cout << "MULTI_PROCESSORS = " << gpu.multi_processor_count << '\n';
  std::cout << "MEMORY_CAPACITY = " << (gpu.total_memory >> 30) << " GiB\n";
}

int main() { return run(listing); }
