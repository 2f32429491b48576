#include "../listing.h"
#include "clothes.h"
#include "conv_net.h"

void listing(const std::string& folder) {
  auto dataset = Clothes(folder, Clothes::Mode::kTest).map(torch::data::transforms::Stack<>());

  // Example of setting the batch size for GPU training
  auto batch_size = 128;
  auto device = torch::Device("cuda");

  auto model = ConvNet();
  model->to(device);

  auto dataloader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      dataset, torch::data::DataLoaderOptions().batch_size(batch_size));

  torch::NoGradGuard no_grad;
  for (auto& batch : *dataloader)
    std::cout << model(in_three_channels(batch.data.to(device))).sizes() << '\n';
}

// 06_batch_size [folder]
int main(int argc, char** argv) {
  return run([&] { listing(argc > 1 ? argv[1] : Clothes::kDebianFolder); });
}
