#include "../listing.h"
#include "network.h"

void listing() {
  auto network = Network();

  network->to("cuda");
  std::cout << network << '\n';
}

int main() { return run(listing); }
