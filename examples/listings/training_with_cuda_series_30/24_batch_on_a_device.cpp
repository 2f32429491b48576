#include "../listing.h"
#include "train_set.h"

void listing(const std::string& folder) {
  auto run = Run{{"lr", .01}, {"batch_size", 100}, {"num_workers", 0}, {"device", "cuda"}};
  auto loader = make_loader(load_train_set(folder), run);
  auto device = run.get<torch::Device>("device");
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
