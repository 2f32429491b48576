#include "../listing.h"
#include "network.h"
#include "train_set.h"

void listing(const std::string& folder) {
  const auto train_set = load_train_set(folder);
  RunManager m;

  const auto base = Run{{"lr", .01}, {"batch_size", 100}, {"num_workers", 0}};
  const auto on_gpu = Run{{"lr", .01}, {"batch_size", 100}, {"num_workers", 0}, {"device", "cuda"}};
  for (const auto& run : {base, on_gpu}) {
    auto network = Network();
    network->to(run.get<torch::Device>("device", torch::kCPU));
    auto loader = make_loader(train_set, run);
    m.begin_run(run, network, *loader);
    std::cout << "began " << run << '\n';
  }
}

int main(int argc, char** argv) {
  return run(
      [&] { listing(argc > 1 ? argv[1] : torch::data::datasets::FashionMNIST::kDebianFolder); });
}
