#include "../listing.h"
#include "network.h"

void listing() {
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");

  auto network = Network();
  network->to(device);
  auto pred = network(torch::ones({1, 1, 28, 28}).to(device));
  std::cout << pred.sizes() << ' ' << pred.device() << '\n';
}

int main() { return run(listing); }
