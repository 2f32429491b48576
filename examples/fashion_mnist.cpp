// A convolutional network for Fashion-MNIST, with batch norm, mirrored images and one cycle of the
// learning rate: at least 92.5 % of the test images in three minutes on two cores.
// Measured: 93.0 % after 7 epochs, which took 119 s.
//
//   fashion_mnist [FOLDER [EPOCHS]]    by default the folder of Debian's package
//                                      dataset-fashion-mnist, and 7 epochs
#include <hearth/hearth.h>

#include <chrono>
#include <iostream>

#include "image_sets.h"

using namespace hearth;
using data::datasets::FashionMNIST;

namespace {

using image_sets::Set;

nn::Conv2d conv(int64_t in, int64_t out) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
}

nn::Sequential network() {
  return nn::Sequential(conv(1, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),   // 14 x 14
                        conv(32, 64), nn::BatchNorm2d(64), nn::ReLU(), nn::MaxPool2d(2),  // 7 x 7
                        nn::Flatten(), nn::Dropout(0.25), nn::Linear(64 * 7 * 7, 128),
                        nn::BatchNorm1d(128), nn::ReLU(), nn::Linear(128, 10));
}

Set load(const std::string& folder, FashionMNIST::Mode mode, Device device) {
  const FashionMNIST set(folder, mode);
  // Mean 0 and variance 1, by the statistics of the training images.
  return {((set.images() - 0.2860) / 0.3530).to(device), set.targets().to(device)};
}

void train(nn::Sequential& model, const Set& set, int64_t epochs) {
  constexpr int64_t kBatch = 128;
  const int64_t count = set.labels.numel(), batches = (count + kBatch - 1) / kBatch;
  optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(4e-3).weight_decay(0.01));
  optim::OneCycleLR schedule(
      optimizer, optim::OneCycleLROptions(4e-3).total_steps(epochs * batches).pct_start(0.2));
  for (int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const Tensor& rows : randperm(count).to(set.labels.device()).split(kBatch)) {
      const Tensor images = image_sets::flip(set.images.index_select(0, rows));
      const Tensor loss =
          cross_entropy_loss(model->forward(images), set.labels.index_select(0, rows));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      schedule.step();
    }
}

void run(const std::string& folder, int64_t epochs) {
  manual_seed(0);
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  const Set train_set = load(folder, FashionMNIST::Mode::kTrain, device);
  const Set test_set = load(folder, FashionMNIST::Mode::kTest, device);
  nn::Sequential model = network();
  model->to(device);
  const auto start = std::chrono::steady_clock::now();
  train(model, train_set, epochs);
  const double right = image_sets::accuracy(model, test_set);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << "test accuracy " << right << " after " << epochs << " epochs, " << seconds.count()
            << " s\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : FashionMNIST::kDebianFolder, argc > 2 ? std::stoll(argv[2]) : 7);
  } catch (const std::exception& error) {
    std::cerr << "hearth: " << error.what() << '\n';
    return 1;
  }
}
