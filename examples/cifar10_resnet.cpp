// A small ResNet for CIFAR-10, trained by the usual recipe: shifts, mirroring, SGD with Nesterov
// momentum, one cycle of the learning rate, label smoothing, and bfloat16 on a GPU. Others have
// reached about 94 % of the test images in this way; Hearth has not been measured yet.
//
//   cifar10_resnet FOLDER [EPOCHS [CHANNELS]]
//
// FOLDER has the files of cifar-10-binary.tar.gz. By default there are 30 epochs and 64 channels.
#include <hearth/vision.h>

#include <iostream>

#include "image_sets.h"

using namespace hearth;
using vision::datasets::CIFAR10;

namespace {

using image_sets::Set;

nn::Conv2d conv(int64_t in, int64_t out, int64_t size, int64_t stride = 1) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false));
}

/// Two convolutions beside a shortcut; halves the picture's size if the channels grow.
struct BlockImpl : nn::Module {
  BlockImpl(int64_t in, int64_t out)
      : main(register_module(
            "main", nn::Sequential(conv(in, out, 3, in == out ? 1 : 2), nn::BatchNorm2d(out),
                                   nn::ReLU(), conv(out, out, 3), nn::BatchNorm2d(out)))),
        shortcut(register_module("shortcut", nn::Sequential())) {
    if (in == out) return;
    shortcut->push_back(conv(in, out, 1, 2));
    shortcut->push_back(nn::BatchNorm2d(out));
  }
  Tensor forward(const Tensor& x) {
    return relu(main->forward(x) + (shortcut->is_empty() ? x : shortcut->forward(x)));
  }

  nn::Sequential main, shortcut;
};
HEARTH_MODULE(Block);

nn::Sequential resnet(int64_t channels) {
  nn::Sequential model(conv(3, channels, 3), nn::BatchNorm2d(channels), nn::ReLU(),
                       Block(channels, channels), Block(channels, channels));
  for (int64_t stage = 0; stage < 3; ++stage, channels *= 2) {
    model->push_back(Block(channels, 2 * channels));
    model->push_back(Block(2 * channels, 2 * channels));
  }
  model->push_back(nn::AdaptiveAvgPool2d(1));
  model->push_back(nn::Flatten());
  model->push_back(nn::Linear(channels, 10));
  return model;
}

Set load(const std::string& folder, bool train, Device device) {
  const CIFAR10 set(folder, train);
  // Mean 0 and variance 1 in each channel, by the statistics of the training images.
  const Tensor mean = tensor({0.4914, 0.4822, 0.4465}).view({3, 1, 1});
  const Tensor deviation = tensor({0.2470, 0.2435, 0.2616}).view({3, 1, 1});
  return {((set.images().to(kFloat) / 255 - mean) / deviation).to(device),
          set.targets().to(device)};
}

/// Returns the mean loss of the batches.
double train_epoch(nn::Sequential& model, const Set& set, optim::SGD& optimizer,
                   optim::OneCycleLR& schedule, int64_t batch) {
  const Device device = set.labels.device();
  std::vector<Tensor> losses;
  for (const Tensor& rows : randperm(set.labels.numel()).to(device).split(batch)) {
    const Tensor images = image_sets::shift(image_sets::flip(set.images.index_select(0, rows)), 4);
    Tensor loss;
    {
      const AutocastMode autocast(device.type(), kBFloat16, /*enabled=*/device.is_cuda());
      loss = cross_entropy_loss(model->forward(images), set.labels.index_select(0, rows), {},
                                Reduction::Mean, /*ignore_index=*/-100, /*label_smoothing=*/0.1);
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    schedule.step();
    losses.push_back(loss.detach());
  }
  return stack(losses).mean().item<double>();
}

void run(const std::string& folder, int64_t epochs, int64_t channels) {
  constexpr int64_t kBatch = 128;
  constexpr double kRate = 0.1;
  manual_seed(0);
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  const Set train_set = load(folder, true, device), test_set = load(folder, false, device);
  nn::Sequential model = resnet(channels);
  model->to(device);
  const int64_t steps = epochs * ((train_set.labels.numel() + kBatch - 1) / kBatch);
  optim::SGD optimizer(model->parameters(),
                       optim::SGDOptions(kRate).momentum(0.9).nesterov(true).weight_decay(5e-4));
  optim::OneCycleLR schedule(optimizer, optim::OneCycleLROptions(kRate).total_steps(steps));
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const double loss = train_epoch(model, train_set, optimizer, schedule, kBatch);
    std::cout << "epoch " << epoch << ": loss " << loss << ", test accuracy "
              << image_sets::accuracy(model, test_set) << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    HEARTH_CHECK(argc > 1, "usage: cifar10_resnet FOLDER [EPOCHS [CHANNELS]]");
    run(argv[1], argc > 2 ? std::stoll(argv[2]) : 30, argc > 3 ? std::stoll(argv[3]) : 64);
  } catch (const std::exception& error) {
    std::cerr << "hearth: " << error.what() << '\n';
    return 1;
  }
}
