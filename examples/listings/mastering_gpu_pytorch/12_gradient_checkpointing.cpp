#include <torch/utils/checkpoint.h>

#include "../listing.h"

namespace nn = torch::nn;

void listing() {
  torch::manual_seed(0);
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  auto model = nn::Sequential();
  for (auto layer = 0; layer < 8; ++layer) {
    model->push_back(nn::Linear(64, 64));
    model->push_back(nn::ReLU());
    model->push_back(nn::Dropout(0.1));
  }
  model->to(device);
  auto x = torch::randn({32, 64}, device).requires_grad_();

  // Stores all activations.
  torch::manual_seed(1);
  model->forward(x).sum().backward();
  auto gradient = x.grad().clone();

  // Stores those between four segments and in the last one, and recomputes the others in backward.
  x.mutable_grad() = torch::Tensor();
  torch::manual_seed(1);
  torch::utils::checkpoint_sequential(model, /*segments=*/4, x).sum().backward();
  std::cout << std::boolalpha << "same gradient: " << x.grad().equal(gradient) << '\n';

  // A single function, here the whole model.
  auto y = torch::utils::checkpoint(
      [&](const torch::Tensor& input) { return model->forward(input); }, x);
  std::cout << y.sizes() << ", requires grad: " << y.requires_grad() << '\n';
}

int main() { return run(listing); }
