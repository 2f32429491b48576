#include "../listing.h"

void listing() {
  auto x = torch::tensor({1, 2, 3});
  x = x.cuda();

  std::cout << x << '\n';
}

int main() { return run(listing); }
