#include "../listing.h"
#include "train_set.h"

void listing() {
  auto params = Params{
      {"lr", {.01}}, {"batch_size", {1000}}, {"num_workers", {0}}, {"device", {"cuda", "cpu"}}};

  for (const auto& run : RunBuilder::get_runs(params)) {
    auto device = run.get<torch::Device>("device");
    std::cout << device << '\n';
  }
}

int main() { return run(listing); }
