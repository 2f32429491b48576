#include "../listing.h"
#include "network.h"

void listing() {
  auto network = Network();
  network->to("cuda");

  for (const auto& [n, p] : network->named_parameters().pairs())
    std::cout << p.device() << "  " << n << '\n';
}

int main() { return run(listing); }
