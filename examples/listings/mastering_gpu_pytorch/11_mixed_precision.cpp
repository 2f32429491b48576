#include <torch/amp.h>

#include "../listing.h"
#include "clothes.h"
#include "conv_net.h"

void listing(const std::string& folder) {
  torch::manual_seed(0);
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  auto clothes = Clothes(folder);
  auto images = in_three_channels(clothes.images().slice(0, 0, 2000).to(device));
  auto labels = clothes.targets().slice(0, 0, 2000).to(device);

  auto model = ConvNet();
  model->to(device);
  auto optimizer = torch::optim::Adam(model->parameters(), /*lr=*/2e-3);
  auto scaler = torch::amp::GradScaler(device);

  torch::Tensor loss;
  for (auto epoch = 0; epoch < 2; ++epoch)
    for (const auto& indices : torch::randperm(images.size(0)).to(device).split(50)) {
      optimizer.zero_grad();
      {
        // Runs the forward pass in float16 where that is safe.
        torch::amp::autocast autocast(device, torch::kFloat16);
        auto scores = model(images.index_select(0, indices));
        loss = torch::cross_entropy_loss(scores, labels.index_select(0, indices));
      }
      // Scales the loss, so that small gradients do not become zero.
      scaler.scale(loss).backward();
      scaler.step(optimizer);
      scaler.update();
    }

  torch::NoGradGuard no_grad;
  auto accuracy = model(images).argmax(1).eq(labels).to(torch::kFloat).mean().item<double>();
  std::cout << std::boolalpha << "accuracy above 0.7: " << (accuracy > 0.7) << '\n'
            << "weights are " << model->fc1->weight.dtype() << '\n';
}

// 11_mixed_precision [folder]
int main(int argc, char** argv) {
  return run([&] { listing(argc > 1 ? argv[1] : Clothes::kDebianFolder); });
}
