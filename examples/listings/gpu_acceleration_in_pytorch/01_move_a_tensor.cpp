#include "../listing.h"

void listing() {
  // Create a tensor
  auto tensor_cpu = torch::zeros({100, 100});

  // Move the tensor to GPU
  auto tensor_gpu = tensor_cpu.to("cuda");
}

int main() { return run(listing); }
