#include "../listing.h"

namespace nn = torch::nn;

void listing() {
  // Define device
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");

  // Create a tensor with requires_grad=True
  auto tensor = torch::randn({3, 3}, torch::TensorOptions().requires_grad(true).device(device));
  std::cout << "\nOriginal Tensor:\n " << tensor << '\n';

  // Apply ReLU
  auto relu = nn::ReLU();
  auto tensor_relu = relu(tensor);
  std::cout << "\nTensor after ReLU:\n " << tensor_relu << '\n';

  // Apply in-place operation (unsafe)
  try {
    tensor_relu += 1;  // This modifies the tensor in-place
    std::cout << "\nTensor after in-place addition:\n " << tensor_relu << '\n';
    tensor_relu.sum().backward();  // needs ReLU's unmodified result
  } catch (const c10::Error& e) {
    std::cout << "Error with in-place operation: " << e.what_without_backtrace() << '\n';
  }
}

int main() { return run(listing); }
