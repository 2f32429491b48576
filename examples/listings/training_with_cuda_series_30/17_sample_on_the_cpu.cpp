#include "../listing.h"
#include "network.h"

void listing() {
  auto network = Network();
  network->to("cuda");
  auto sample = torch::ones({1, 1, 28, 28});

  try {
    auto pred = network(sample);
  } catch (const std::exception& e) {
    std::cout << e.what() << '\n';
  }
}

int main() { return run(listing); }
