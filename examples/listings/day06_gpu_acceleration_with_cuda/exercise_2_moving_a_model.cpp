#include "../listing.h"

namespace nn = torch::nn;

// Step 1: Define a simple model
struct SimpleNetImpl : nn::Module {
  SimpleNetImpl() { fc = register_module("fc", nn::Linear(100, 10)); }
  torch::Tensor forward(const torch::Tensor& x) { return fc(x); }

  nn::Linear fc = nullptr;
};
TORCH_MODULE(SimpleNet);

void listing() {
  // Instantiate the model
  auto model = SimpleNet();

  // Step 2: Check for GPU availability
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  std::cout << "Using device: " << device << '\n';

  // Step 3: Move the model to GPU
  model->to(device);
  std::cout << "Model is on device: " << model->parameters().front().device() << '\n';

  // Step 4: Create dummy input and move to device
  auto input_tensor = torch::randn({5, 100}).to(device);
  std::cout << "Input tensor is on device: " << input_tensor.device() << '\n';

  // Step 5: Perform forward pass
  auto output = model(input_tensor);
  std::cout << "Output tensor is on device: " << output.device() << '\n';
}

int main() { return run(listing); }
