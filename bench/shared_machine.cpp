#include <torch/torch.h>

#include <chrono>
#include <cstdio>

// Trains the convolutional network of the tutorials on random images and prints the seconds.
// shared_machine.sh runs it alone and beside a busy process, with Hearth and with LibTorch.

namespace {

struct NetworkImpl : torch::nn::Module {
  NetworkImpl() {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("out", out);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2, 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2, 2);
    x = torch::relu(fc1(x.flatten(1)));
    return out(torch::relu(fc2(x)));
  }
  torch::nn::Conv2d conv1{torch::nn::Conv2dOptions(1, 6, 5)};
  torch::nn::Conv2d conv2{torch::nn::Conv2dOptions(6, 12, 5)};
  torch::nn::Linear fc1{192, 120}, fc2{120, 60}, out{60, 10};
};
TORCH_MODULE(Network);

}  // namespace

int main() {
  constexpr int kSteps = 400;
  torch::manual_seed(0);
  Network network;
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(1e-3));
  const torch::Tensor images = torch::randn({100, 1, 28, 28});
  const torch::Tensor labels = torch::randint(10, {100}, torch::kLong);
  const auto start = std::chrono::steady_clock::now();
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(network(images), labels).backward();
    optimizer.step();
  }
  const auto end = std::chrono::steady_clock::now();
  std::printf("%.3f\n", std::chrono::duration<double>(end - start).count());
}
