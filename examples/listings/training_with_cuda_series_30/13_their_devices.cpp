#include "../listing.h"
#include "network.h"

void listing() {
  auto network = Network();

  for (const auto& [n, p] : network->named_parameters().pairs())
    std::cout << p.device() << "  " << n << '\n';
}

int main() { return run(listing); }
