#include "../listing.h"
#include "clothes.h"
#include "conv_net.h"

constexpr int64_t kTrainingImages = 4000, kTestImages = 1000, kBatchSize = 50;

/// The first images of a part of the dataset, and their labels.
std::pair<torch::Tensor, torch::Tensor> load(const std::string& folder, Clothes::Mode mode,
                                             int64_t count, torch::Device device) {
  const auto clothes = Clothes(folder, mode);
  count = std::min(count, clothes.images().size(0));
  return {in_three_channels(clothes.images().slice(0, 0, count).to(device)),
          clothes.targets().slice(0, 0, count).to(device)};
}

void listing(const std::string& folder) {
  torch::manual_seed(0);
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  auto model = ConvNet();
  model->to(device);

  auto [images, labels] = load(folder, Clothes::Mode::kTrain, kTrainingImages, device);
  auto optimizer = torch::optim::Adam(model->parameters(), /*lr=*/2e-3);
  for (auto epoch = 0; epoch < 3; ++epoch)
    for (const auto& indices : torch::randperm(images.size(0)).to(device).split(kBatchSize)) {
      auto loss = torch::cross_entropy_loss(model(images.index_select(0, indices)),
                                            labels.index_select(0, indices));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }

  torch::NoGradGuard no_grad;
  std::tie(images, labels) = load(folder, Clothes::Mode::kTest, kTestImages, device);
  auto accuracy = model(images).argmax(1).eq(labels).to(torch::kFloat).mean().item<double>();
  std::cout << std::boolalpha << "accuracy " << accuracy << ", above 0.8: " << (accuracy > 0.8)
            << '\n';
}

// 07_conv_net [folder]
int main(int argc, char** argv) {
  return run([&] { listing(argc > 1 ? argv[1] : Clothes::kDebianFolder); });
}
