#include "../listing.h"
#include "train_set.h"

void listing() {
  auto params = Params{
      {"lr", {.01}},
      {"batch_size", {1000, 10000, 20000}},
      {"num_workers", {0, 1}},
      {"device", {"cuda", "cpu"}},
  };

  for (const auto& run : RunBuilder::get_runs(params)) std::cout << run << '\n';
}

int main() { return run(listing); }
