#include <torch/nn/parallel/data_parallel.h>

#include "../listing.h"

namespace nn = torch::nn;

// Step 2: Define a model
struct SimpleCNNImpl : nn::Cloneable<SimpleCNNImpl> {
  SimpleCNNImpl() { reset(); }

  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1)));
    relu = register_module("relu", nn::ReLU());
    pool = register_module("pool", nn::MaxPool2d(2));
    fc = register_module("fc", nn::Linear(16 * 16 * 16, 10));  // for input images of 32x32
  }

  torch::Tensor forward(torch::Tensor x) {
    x = pool(relu(conv1(x)));
    x = x.view({x.size(0), -1});
    x = fc(x);
    return x;
  }

  nn::Conv2d conv1 = nullptr;
  nn::ReLU relu = nullptr;
  nn::MaxPool2d pool = nullptr;
  nn::Linear fc = nullptr;
};
TORCH_MODULE(SimpleCNN);

void listing() {
  // Step 1: Check for multiple GPUs
  auto cuda_available = torch::cuda::is_available();
  auto num_gpus = torch::cuda::device_count();
  std::cout << std::boolalpha << "CUDA Available: " << cuda_available << '\n';
  std::cout << "Number of GPUs: " << num_gpus << '\n';

  // Instantiate the model
  auto net = SimpleCNN();
  auto model = nn::AnyModule(net);

  // Step 3: Wrap with DataParallel if multiple GPUs
  if (cuda_available && num_gpus > 1) {
    model = nn::AnyModule(nn::DataParallel(net));
    std::cout << "Model wrapped with DataParallel\n";
  }

  // Step 4: Move the model to GPU
  auto device = torch::Device(cuda_available ? "cuda" : "cpu");
  model.ptr()->to(device);
  std::cout << "Model is on device: " << model.ptr()->parameters().front().device() << '\n';

  // Step 5: Create dummy input data
  auto batch_size = 32;
  auto dummy_input = torch::randn({batch_size, 3, 32, 32}).to(device);
  std::cout << "Dummy input is on device: " << dummy_input.device() << '\n';

  // Perform forward pass
  auto output = model.forward(dummy_input);
  std::cout << "Output shape: " << output.sizes() << '\n';
  std::cout << "Output is on device: " << output.device() << '\n';
}

int main() { return run(listing); }
