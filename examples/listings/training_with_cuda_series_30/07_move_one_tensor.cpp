#include "../listing.h"

void listing() {
  auto t1 = torch::tensor({{1, 2}, {3, 4}});

  t1 = t1.to("cuda");
  std::cout << t1.device() << '\n';
}

int main() { return run(listing); }
