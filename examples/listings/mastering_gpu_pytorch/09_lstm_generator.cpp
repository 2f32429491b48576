#include "../listing.h"

namespace nn = torch::nn;
using torch::indexing::Slice;

struct LSTMGeneratorImpl : nn::Module {
  LSTMGeneratorImpl(int64_t vocab_size, int64_t embedding_dim, int64_t hidden_dim,
                    int64_t num_layers)
      : Module("LSTMGenerator") {
    embedding = register_module("embedding", nn::Embedding(vocab_size, embedding_dim));
    lstm = register_module(
        "lstm",
        nn::LSTM(
            nn::LSTMOptions(embedding_dim, hidden_dim).num_layers(num_layers).batch_first(true)));
    fc = register_module("fc", nn::Linear(hidden_dim, vocab_size));
  }

  using State = std::tuple<torch::Tensor, torch::Tensor>;

  std::tuple<torch::Tensor, State> forward(const torch::Tensor& x, const torch::Tensor& h0,
                                           const torch::Tensor& c0) {
    auto embedded = embedding(x);
    auto [output, state] = lstm(embedded, std::make_tuple(h0, c0));
    output = fc(output.index({Slice(), -1, Slice()}));
    return {output, state};
  }

  nn::Embedding embedding = nullptr;
  nn::LSTM lstm = nullptr;
  nn::Linear fc = nullptr;
};
TORCH_MODULE(LSTMGenerator);

const std::string kText =
    "a tensor is an array of numbers. a module is a function with parameters. an optimizer changes "
    "parameters so that a loss becomes smaller. training is these three, many times.";
constexpr int64_t kVocabSize = 128, kHiddenDim = 64, kNumLayers = 1, kLength = 16;

torch::Tensor initial_state(int64_t batch_size, torch::Device device) {
  return torch::zeros({kNumLayers, batch_size, kHiddenDim}, device);
}

/// Trains on all windows of the text; their length changes with each epoch. Returns the share of
/// the last epoch's windows whose next character the model predicts.
double train(LSTMGenerator& model, const torch::Tensor& text) {
  auto optimizer = torch::optim::Adam(model->parameters(), /*lr=*/0.02);
  torch::Tensor output, next;
  for (auto epoch = 0; epoch < 99; ++epoch) {
    auto length = kLength * (1 + epoch % 3);
    auto windows = text.unfold(0, length + 1, 1);
    auto zeros = initial_state(windows.size(0), text.device());
    output = std::get<0>(model(windows.slice(1, 0, length), zeros, zeros));
    next = windows.select(1, length);
    auto loss = torch::cross_entropy_loss(output, next);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return output.argmax(1).eq(next).to(torch::kFloat).mean().item<double>();
}

/// The `count` characters that follow the text x, each the likeliest one.
std::string generate(LSTMGenerator& model, torch::Tensor x, int64_t count) {
  torch::NoGradGuard no_grad;
  std::string result;
  auto h = initial_state(1, x.device()), c = h;
  for (int64_t i = 0; i < count; ++i) {
    auto [output, state] = model(x, h, c);
    std::tie(h, c) = state;
    x = output.argmax(1, /*keepdim=*/true);
    result += static_cast<char>(x.item<int64_t>());
  }
  return result;
}

void listing() {
  torch::manual_seed(0);
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  auto model = LSTMGenerator(kVocabSize, /*embedding_dim=*/32, kHiddenDim, kNumLayers);
  model->to(device);

  auto text = torch::tensor(std::vector<int64_t>(kText.begin(), kText.end())).to(device);
  auto accuracy = train(model, text);
  std::cout << std::boolalpha << "accuracy " << accuracy << ", above 0.95: " << (accuracy > 0.95)
            << '\n';
  std::cout << kText.substr(0, kLength)
            << generate(model, text.slice(0, 0, kLength).unsqueeze(0), 39) << '\n';
}

int main() { return run(listing); }
