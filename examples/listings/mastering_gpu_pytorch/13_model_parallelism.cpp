#include "../listing.h"

namespace nn = torch::nn;

// Different parts of the model are on different GPUs
struct TwoPartsImpl : nn::Module {
  TwoPartsImpl(torch::Device first, torch::Device second)
      : first_device(first), second_device(second) {
    first_part = register_module("first_part", nn::Linear(10, 20));
    second_part = register_module("second_part", nn::Linear(20, 5));
    first_part->to(first_device);
    second_part->to(second_device);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto hidden = torch::relu(first_part(x.to(first_device)));
    return second_part(hidden.to(second_device));
  }

  torch::Device first_device, second_device;
  nn::Linear first_part = nullptr, second_part = nullptr;
};
TORCH_MODULE(TwoParts);

void listing() {
  auto has_two = torch::cuda::device_count() > 1;
  auto model = TwoParts(has_two ? "cuda:0" : "cpu", has_two ? "cuda:1" : "cpu");
  auto optimizer = torch::optim::SGD(model->parameters(), /*lr=*/0.1);

  auto data = torch::randn({16, 10}), target = torch::randn({16, 5});
  auto step = [&] {
    optimizer.zero_grad();
    auto output = model(data);
    auto loss = torch::mse_loss(output, target.to(output.device()));
    loss.backward();
    optimizer.step();
    return loss;
  };
  auto first_loss = step();
  for (const auto& parameter : model->named_parameters())
    std::cout << parameter.key() << ' ' << parameter->device() << ' ' << parameter->grad().device()
              << '\n';
  std::cout << (step() < first_loss).item<bool>() << '\n';
}

int main() { return run(listing); }
