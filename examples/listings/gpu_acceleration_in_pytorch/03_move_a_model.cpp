#include "../listing.h"

void listing() {
  // Assuming 'model' is your neural network model
  auto model = torch::nn::Sequential(torch::nn::Linear(10, 2), torch::nn::BatchNorm1d(2));
  model->to("cuda");

  // After this, all the model's parameters and buffers are moved to the GPU.
  for (const auto& [name, tensor] : model->state_dict().pairs())
    std::cout << name << ' ' << tensor.device() << '\n';
}

int main() { return run(listing); }
