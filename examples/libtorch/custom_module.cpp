// Your own modules: options, a holder, parameters and buffers, cloning, saving; and a recurrent
// network that uses them.
#include <torch/torch.h>

#include <iostream>
#include <sstream>

struct GateOptions {
  GateOptions(int64_t features) : features_(features) {}
  TORCH_ARG(int64_t, features);
  TORCH_ARG(double, sharpness) = 1.0;
};

/// x * sigmoid(sharpness * (x - threshold)), with a learned threshold for each feature.
class GateImpl : public torch::nn::Cloneable<GateImpl> {
 public:
  explicit GateImpl(GateOptions options_) : options(options_) { reset(); }

  void reset() override {
    threshold = register_parameter("threshold", torch::zeros({options.features()}));
    calls = register_buffer("calls", torch::zeros({1}, torch::kLong));
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "Gate(features=" << options.features() << ", sharpness=" << options.sharpness()
           << ')';
  }
  torch::Tensor forward(const torch::Tensor& x) {
    if (is_training()) calls += 1;
    return x * torch::sigmoid(options.sharpness() * (x - threshold));
  }

  GateOptions options;
  torch::Tensor threshold, calls;
};
TORCH_MODULE(Gate);

struct TaggerImpl : torch::nn::Module {
  TaggerImpl(int64_t words, int64_t tags)
      : embedding(register_module("embedding", torch::nn::Embedding(words, 8))),
        lstm(register_module("lstm",
                             torch::nn::LSTM(torch::nn::LSTMOptions(8, 12).batch_first(true)))),
        gate(register_module("gate", Gate(GateOptions(12).sharpness(2)))),
        linear(register_module("linear", torch::nn::Linear(12, tags))) {}

  torch::Tensor forward(const torch::Tensor& sentences) {
    auto states = std::get<0>(lstm->forward(embedding->forward(sentences)));
    return linear->forward(gate->forward(states));
  }

  torch::nn::Embedding embedding;
  torch::nn::LSTM lstm;
  Gate gate;
  torch::nn::Linear linear;
};
TORCH_MODULE(Tagger);

int main() {
  torch::manual_seed(11);
  Tagger tagger(20, 4);
  auto sentences = torch::randint(20, {6, 9});
  auto tags = sentences.remainder(4);
  torch::optim::RMSprop optimizer(tagger->parameters(), torch::optim::RMSpropOptions(0.01));
  for (int step = 0; step < 40; ++step) {
    auto loss = optimizer.step([&] {
      optimizer.zero_grad();
      auto output = tagger(sentences);
      auto value = torch::nn::functional::cross_entropy(output.view({-1, 4}), tags.view(-1));
      value.backward();
      return value;
    });
    if (step % 10 == 0) std::cout << "step " << step << ": " << loss.item<float>() << '\n';
  }
  std::cout << tagger->gate << ' ' << tagger->gate->calls.item<int64_t>() << '\n';

  std::stringstream stream;
  torch::save(tagger, stream);
  Tagger loaded(20, 4);
  torch::load(loaded, stream);
  torch::NoGradGuard no_grad;
  tagger->eval(), loaded->eval();
  std::cout << torch::equal(tagger(sentences), loaded(sentences)) << '\n';

  Gate copy = std::dynamic_pointer_cast<GateImpl>(tagger->gate->clone());
  copy->threshold.add_(1);
  std::cout << torch::equal(copy->threshold, tagger->gate->threshold) << ' '
            << copy->options.sharpness() << '\n';
  std::cout << tagger->named_parameters()["gate.threshold"].sum().item<float>() << '\n';
}
