#include "../listing.h"

namespace nn = torch::nn;

void listing() {
  // Define device
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");

  // Define a simple model
  auto model = nn::Linear(10, 2);

  // Create input tensor on GPU
  auto input_tensor = torch::randn({5, 10}).to(device);

  // Attempt to pass input through model (model is on CPU)
  torch::Tensor output;
  try {
    output = model(input_tensor);
  } catch (const c10::Error& e) {
    std::cout << "\nError due to model on CPU: " << e.what_without_backtrace() << '\n';
  }

  // Corrected: Move model to device
  model->to(device);

  // Now pass input through model
  output = model(input_tensor);
  std::cout << "\nModel Output:\n " << output << '\n';
}

int main() { return run(listing); }
