#include "../listing.h"

namespace nn = torch::nn;

// Define a simple neural network
struct SimpleNetImpl : nn::Module {
  SimpleNetImpl() {
    fc1 = register_module("fc1", nn::Linear(10, 50));
    relu = register_module("relu", nn::ReLU());
    fc2 = register_module("fc2", nn::Linear(50, 1));
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
  std::cout << "Using device: " << device << '\n';

  // Instantiate the model
  auto model = SimpleNet();
  std::cout << "\nModel on CPU: " << model->parameters().front().device() << '\n';

  // Move the model to GPU
  if (device.type() == torch::kCUDA) {
    model->to(device);
    std::cout << "Model moved to GPU: " << model->parameters().front().device() << '\n';
  } else {
    std::cout << "Model remains on CPU.\n";
  }
}

int main() { return run(listing); }
