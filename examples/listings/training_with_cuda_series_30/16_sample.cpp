#include "../listing.h"

void listing() {
  auto sample = torch::ones({1, 1, 28, 28});
  std::cout << sample.sizes() << '\n';
}

int main() { return run(listing); }
