#include "../listing.h"
#include "run_manager.h"
#include "train_set.h"

void listing(const std::string& folder) {
  const auto train_set = load_train_set(folder);
  RunManager m;

  // A run without a device is one on the CPU.
  for (const auto& run :
       {Run{.lr = .01, .batch_size = 100}, Run{.lr = .01, .batch_size = 100, .device = "cuda"}}) {
    auto network = Network();
    network->to(torch::Device(run.device));
    auto loader = make_loader(train_set, run);
    m.begin_run(run, network, *loader);
    std::cout << "began " << run << '\n';
  }
}

int main(int argc, char** argv) {
  return run(
      [&] { listing(argc > 1 ? argv[1] : torch::data::datasets::FashionMNIST::kDebianFolder); });
}
