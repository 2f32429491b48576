#include "../listing.h"
#include "network.h"

void listing() {
  auto network = Network();

  std::cout << network->parameters().size() << " parameters\n";
}

int main() { return run(listing); }
