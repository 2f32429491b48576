#include "../listing.h"

void listing() {
  auto t1 = torch::tensor({{1, 2}, {3, 4}});
  auto t2 = torch::tensor({{5, 6}, {7, 8}});
  t1 = t1.to("cuda");

  try {
    t2 + t1;
  } catch (const std::exception& e) {
    std::cout << e.what() << '\n';
  }
}

int main() { return run(listing); }
