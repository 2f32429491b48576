#include "../listing.h"
#include "train_set.h"

void listing(const std::string& folder) {
  auto run = Run{.lr = .01, .batch_size = 100, .device = "cuda"};
  auto loader = make_loader(load_train_set(folder), run);
  auto device = torch::Device(run.device);
  auto batch = *loader->begin();

  auto images = batch.data.to(device);
  auto labels = batch.target.to(device);

  std::cout << images.sizes() << ' ' << images.device() << '\n';
  std::cout << labels.sizes() << ' ' << labels.device() << '\n';
}

int main(int argc, char** argv) {
  return run(
      [&] { listing(argc > 1 ? argv[1] : torch::data::datasets::FashionMNIST::kDebianFolder); });
}
