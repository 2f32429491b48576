#include "../listing.h"
#include "network.h"

void listing() {
  auto network = Network();

  for (const auto& [name, param] : network->named_parameters().pairs())
    std::cout << name << " \t\t " << param.sizes() << '\n';
}

int main() { return run(listing); }
