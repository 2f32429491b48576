#include "../listing.h"

struct YourModelImpl : torch::nn::Module {
  YourModelImpl() { linear = register_module("linear", torch::nn::Linear(10, 2)); }
  torch::Tensor forward(const torch::Tensor& x) { return linear(x); }

  torch::nn::Linear linear = nullptr;
};
TORCH_MODULE(YourModel);

void listing() {
  // Check for GPU availability
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");

  auto model = YourModel();
  model->to(device);  // Move the model to the specified device (GPU or CPU)

  // Step 3: Move inputs to the GPU
  auto input_tensor = torch::ones({3, 10});
  std::cout << model(input_tensor.to(device)) << '\n';
}

int main() { return run(listing); }
