#include "../listing.h"
#include "network.h"

void listing() {
  auto t = torch::ones({1, 1, 28, 28}).cuda();
  auto network = Network();
  network->to(torch::kCUDA);

  auto gpu_pred = network(t);
  std::cout << gpu_pred.device() << '\n';
}

int main() { return run(listing); }
