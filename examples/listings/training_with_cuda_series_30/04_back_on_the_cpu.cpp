#include "../listing.h"
#include "network.h"

void listing() {
  auto t = torch::ones({1, 1, 28, 28}).cuda();
  auto network = Network();
  network->to(torch::kCUDA);

  t = t.cpu();
  network->to(torch::kCPU);

  auto cpu_pred = network(t);
  std::cout << cpu_pred.device() << '\n';
}

int main() { return run(listing); }
