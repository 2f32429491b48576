#include "../listing.h"
#include "runs.h"

void listing() {
  auto params =
      Params{.lr = {.01}, .batch_size = {1000}, .num_workers = {0}, .device = {"cuda", "cpu"}};

  for (const auto& run : get_runs(params)) {
    auto device = torch::Device(run.device);
    std::cout << device << '\n';
  }
}

int main() { return run(listing); }
