#include "../listing.h"

void listing() {
  auto t1 = torch::tensor({{1, 2}, {3, 4}});
  auto t2 = torch::tensor({{5, 6}, {7, 8}});
  t1 = t1.to("cuda");

  t2 = t2.to("cuda");
  std::cout << t1 + t2 << '\n';
}

int main() { return run(listing); }
