// A network without a class: Sequential, AnyModule, a decaying learning rate, several losses.
#include <torch/torch.h>

#include <iostream>
#include <string>

using torch::nn::BatchNorm1d, torch::nn::Dropout, torch::nn::GELU, torch::nn::LayerNorm,
    torch::nn::LayerNormOptions, torch::nn::Linear, torch::nn::LinearOptions, torch::nn::Sequential;

void fit(Sequential& model, const std::string& name) {
  auto x = torch::randn({64, 6});
  auto y = (x.slice(/*dim=*/1, 0, 3) * torch::tensor({1.0, -2.0, 0.5})).sum(1, /*keepdim=*/true);
  torch::optim::AdamW optimizer(model->parameters(),
                                torch::optim::AdamWOptions(0.02).weight_decay(0.01));
  for (int step = 0; step < 60; ++step) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(model->forward(x), y);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 5.0);
    optimizer.step();
    if (step % 20 == 19)  // LibTorch's StepLR would change the rate one step later than Hearth's
      for (auto& group : optimizer.param_groups())
        group.options().set_lr(group.options().get_lr() * 0.5);
    if (step % 20 == 0)
      std::cout << name << " step " << step << " loss " << loss.item<float>() << " lr "
                << optimizer.param_groups()[0].options().get_lr() << '\n';
  }
  model->eval();
  torch::NoGradGuard no_grad;
  std::cout << name << " mse " << torch::mse_loss(model->forward(x), y).item<float>() << " mae "
            << torch::l1_loss(model->forward(x), y).item<float>() << '\n';
}

int main() {
  torch::manual_seed(7);
  Sequential unnamed(Linear(LinearOptions(6, 32).bias(false)), BatchNorm1d(32),
                     torch::nn::Functional(torch::tanh), Dropout(0.1),
                     Linear(LinearOptions(32, 1).bias(false)));
  fit(unnamed, "unnamed");

  Sequential named({{"in", Linear(6, 16)},
                    {"norm", LayerNorm(LayerNormOptions({16}))},
                    {"act", GELU()},
                    {"out", Linear(16, 1)}});
  fit(named, "named");
  for (const auto& item : named->named_parameters())
    std::cout << item.key() << ' ' << item.value().sizes() << ' '
              << item.value().sum().item<float>() << '\n';

  Sequential copy = std::dynamic_pointer_cast<torch::nn::SequentialImpl>(named->clone());
  copy->push_back("last", Linear(1, 2));
  std::cout << named->size() << ' ' << copy->size() << ' '
            << copy->forward(torch::ones({3, 6})).sizes() << '\n';

  torch::nn::AnyModule any(torch::nn::Embedding(5, 3));
  std::cout << any.forward(torch::arange(4)).sizes() << ' '
            << any.get<torch::nn::Embedding>()->weight.size(0) << '\n';
}
