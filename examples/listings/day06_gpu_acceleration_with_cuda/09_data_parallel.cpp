#include <cstdio>

#include <torch/nn/parallel/data_parallel.h>

#include "../listing.h"

namespace nn = torch::nn;
namespace optim = torch::optim;

// Define a simple model
struct SimpleNetImpl : nn::Cloneable<SimpleNetImpl> {
  SimpleNetImpl() { reset(); }

  void reset() override {
    fc1 = register_module("fc1", nn::Linear(100, 50));
    relu = register_module("relu", nn::ReLU());
    fc2 = register_module("fc2", nn::Linear(50, 10));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto out = fc1(x);
    out = relu(out);
    out = fc2(out);
    return out;
  }

  nn::Linear fc1 = nullptr, fc2 = nullptr;
  nn::ReLU relu = nullptr;
};
TORCH_MODULE(SimpleNet);

void listing() {
  // Define device
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  std::cout << "Using device: " << device << std::endl;

  // Instantiate the model. Without GPUs, DataParallel just calls it
  auto model = nn::DataParallel(SimpleNet());
  if (torch::cuda::device_count() > 1)
    std::cout << "Using " << torch::cuda::device_count() << " GPUs!" << std::endl;

  // Move the model to device
  model->to(device);

  // Define loss and optimizer
  auto criterion = nn::CrossEntropyLoss();
  auto optimizer = optim::Adam(model->parameters(), /*lr=*/0.001);

  // Dummy data
  auto batch_size = 128;
  auto inputs = torch::randn({batch_size, 100}).to(device);
  auto labels = torch::randint(0, 10, {batch_size}).to(device);

  // Training loop
  for (auto epoch = 0; epoch < 3; ++epoch) {
    // Forward pass
    auto outputs = model(inputs);
    auto loss = criterion(outputs, labels);

    // Backward and optimize
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();

    std::printf("Epoch [%d/3], Loss: %.4f\n", epoch + 1, loss.item<double>());
  }
}

int main() { return run(listing); }
