// Writes tests/fixtures/pt/libtorch_*.pt with LibTorch: archives of torch::save, and one of
// torch::jit::pickle_save. Argument: the folder to write to.
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/torch.h>
#include <fstream>

namespace {

struct Net : torch::nn::Module {
  Net() {
    fc = register_module("fc", torch::nn::Linear(2, 2));
    bn = register_module("bn", torch::nn::BatchNorm1d(2));
    scale = register_parameter("scale", torch::full({2}, 1.5));
  }
  torch::Tensor forward(torch::Tensor x) { return bn(fc(x)) * scale; }
  torch::nn::Linear fc{nullptr};
  torch::nn::BatchNorm1d bn{nullptr};
  torch::Tensor scale;
};

/// Fills the parameters with 0/8, 1/8, 2/8, …
void fill(Net& net) {
  torch::NoGradGuard no_grad;
  int next = 0;
  for (auto& p : net.parameters())
    p.copy_((torch::arange(next, next + p.numel()).view(p.sizes()) / 8.0)), next += p.numel();
}

template <class Optimizer, class Options>
void save_optimizer(const std::string& path, Options options) {
  auto weight = torch::arange(4.0).view({2, 2}).requires_grad_();
  auto bias = torch::zeros({2}).requires_grad_();
  Optimizer optimizer({weight, bias}, options);
  for (int i = 0; i < 2; ++i) {
    optimizer.zero_grad();
    (weight.pow(2).sum() + (bias + 1).pow(2).sum()).backward();
    optimizer.step();
  }
  torch::save(optimizer, path);
}

}  // namespace

int main(int, char** argv) {
  const std::string prefix = std::string(argv[1]) + "/libtorch_";
  const auto base = torch::arange(6, torch::kFloat).view({2, 3});
  torch::save(base.t(), prefix + "tensor.pt");
  torch::save(std::vector<torch::Tensor>{base, torch::ones({1}, torch::kBool)}, prefix + "list.pt");
  auto net = std::make_shared<Net>();
  fill(*net);
  torch::save(net, prefix + "module.pt");
  using namespace torch::optim;
  save_optimizer<SGD>(prefix + "sgd.pt", SGDOptions(0.1).momentum(0.5));
  save_optimizer<Adam>(prefix + "adam.pt", AdamOptions(0.1).betas({0.8, 0.9}).amsgrad(true));
  save_optimizer<AdamW>(prefix + "adamw.pt", AdamWOptions(0.1).weight_decay(0.5));
  save_optimizer<RMSprop>(prefix + "rmsprop.pt", RMSpropOptions(0.1).centered(true).momentum(0.5));
  save_optimizer<Adagrad>(prefix + "adagrad.pt", AdagradOptions(0.1).lr_decay(0.25));
  c10::Dict<std::string, torch::Tensor> dict;
  dict.insert("a", base);
  dict.insert("b", base[1]);
  const std::vector<torch::Tensor> tensors = {base};
  const std::vector<char> bytes = torch::jit::pickle_save(c10::ivalue::Tuple::create(
      dict, 3, 2.5, true, "text", c10::IValue(), std::vector<int64_t>{1, 2},
      std::vector<double>{0.5}, c10::ivalue::Tuple::create(1, "x"), tensors));
  std::ofstream(prefix + "pickle.pt", std::ios::binary).write(bytes.data(), bytes.size());
}
