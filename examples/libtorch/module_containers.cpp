// Modules in lists and dictionaries: a residual network with a variable number of blocks.
#include <torch/torch.h>

#include <iostream>
#include <string>

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t channels)
      : conv(torch::nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false)),
        norm(channels) {
    register_module("conv", conv);
    register_module("norm", norm);
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::relu(x + norm(conv(x))); }

  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d norm;
};
TORCH_MODULE(Block);

struct ResidualNetImpl : torch::nn::Module {
  ResidualNetImpl(int64_t block_count, int64_t channels) {
    stem = register_module("stem",
                           torch::nn::Conv2d(torch::nn::Conv2dOptions(1, channels, 3).stride(2)));
    for (int64_t i = 0; i < block_count; ++i) blocks->push_back(Block(channels));
    register_module("blocks", blocks);
    heads = register_module("heads", torch::nn::ModuleDict(heads_of(channels)));
  }
  static std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> heads_of(
      int64_t channels) {
    return {{"kind", torch::nn::Linear(channels, 3).ptr()},
            {"size", torch::nn::Linear(channels, 1).ptr()}};
  }

  torch::Tensor forward(torch::Tensor x, const std::string& head) {
    x = stem(x);
    for (const auto& block : *blocks) x = block->as<Block>()->forward(x);
    x = torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    return heads[head]->as<torch::nn::Linear>()->forward(x);
  }

  torch::nn::Conv2d stem{nullptr};
  torch::nn::ModuleList blocks;
  torch::nn::ModuleDict heads;
};
TORCH_MODULE(ResidualNet);

int main() {
  torch::manual_seed(3);
  ResidualNet net(3, 4);
  std::cout << net->parameters().size() << " parameters, " << net->buffers().size() << " buffers, "
            << net->modules().size() << " modules\n";

  net->apply([](torch::nn::Module& module) {
    if (auto* conv = module.as<torch::nn::Conv2d>()) {
      torch::NoGradGuard no_grad;
      torch::nn::init::kaiming_normal_(conv->weight, 0.0, torch::kFanOut, torch::kReLU);
    }
  });

  auto images = torch::randn({8, 1, 15, 15});
  auto kinds = torch::randint(3, {8}), sizes = torch::rand({8, 1});
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(0.05).momentum(0.9).nesterov(true));
  for (int step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    auto kind = torch::nn::functional::cross_entropy(net->forward(images, "kind"), kinds);
    auto size = torch::nn::functional::smooth_l1_loss(net->forward(images, "size"), sizes);
    (kind + size).backward();
    optimizer.step();
    if (step % 3 == 0)
      std::cout << "step " << step << ": " << kind.item<float>() << " + " << size.item<float>()
                << '\n';
  }

  for (const auto& item : net->named_buffers())
    if (item.key().find("1.norm") != std::string::npos)
      std::cout << item.key() << ' ' << item.value().to(torch::kFloat).mean().item<float>() << '\n';
  for (const auto& child : net->named_children()) std::cout << child.key() << '\n';
}
