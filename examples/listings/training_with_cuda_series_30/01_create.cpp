#include "../listing.h"
#include "network.h"

void listing() {
  auto t = torch::ones({1, 1, 28, 28});
  auto network = Network();

  std::cout << t.device() << ' ' << network->conv1->weight.device() << '\n';
}

int main() { return run(listing); }
