#include "../listing.h"

void listing() {
  auto t1 = torch::tensor({{1, 2}, {3, 4}});
  auto t2 = torch::tensor({{5, 6}, {7, 8}});

  std::cout << t1.device() << ", " << t2.device() << '\n';
}

int main() { return run(listing); }
