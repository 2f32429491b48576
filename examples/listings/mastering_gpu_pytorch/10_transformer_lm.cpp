#include "../listing.h"

namespace nn = torch::nn;

struct TransformerLMImpl : nn::Module {
  TransformerLMImpl(int64_t vocab_size, int64_t d_model, int64_t nhead, int64_t num_layers,
                    int64_t seq_len)
      : Module("TransformerLM") {
    embedding = register_module("embedding", nn::Embedding(vocab_size, d_model));
    pos_encoding = register_module(
        "pos_encoding",
        nn::PositionalEncoding(nn::PositionalEncodingOptions(d_model).max_len(seq_len)));
    transformer =
        register_module("transformer", nn::Transformer(nn::TransformerOptions(d_model, nhead)
                                                           .num_encoder_layers(num_layers)
                                                           .num_decoder_layers(num_layers)));
    fc = register_module("fc", nn::Linear(d_model, vocab_size));
  }

  torch::Tensor forward(torch::Tensor src, torch::Tensor tgt) {
    src = pos_encoding(embedding(src));
    tgt = pos_encoding(embedding(tgt));
    // An output depends only on the targets before it.
    auto tgt_mask = nn::TransformerImpl::generate_square_subsequent_mask(tgt.size(0));
    auto output = transformer(src, tgt, /*src_mask=*/torch::Tensor(), tgt_mask.to(tgt.device()));
    output = fc(output);
    return output;
  }

  nn::Embedding embedding = nullptr;
  nn::PositionalEncoding pos_encoding = nullptr;
  nn::Transformer transformer = nullptr;
  nn::Linear fc = nullptr;
};
TORCH_MODULE(TransformerLM);

constexpr int64_t kVocabSize = 11, kLength = 5, kBatchSize = 32;
constexpr int64_t kBegin = 10;  // stands before the first target

/// Random digits, [kLength, count]; the model learns to write them in reverse.
torch::Tensor random_digits(int64_t count, torch::Device device) {
  return torch::randint(kBegin, {kLength, count}).to(device);
}

torch::Tensor begin(int64_t count, torch::Device device) {
  return torch::full({1, count}, kBegin, torch::TensorOptions(torch::kLong).device(device));
}

void train(TransformerLM& model, torch::Device device, int64_t steps) {
  auto optimizer = torch::optim::Adam(model->parameters(), /*lr=*/3e-3);
  for (int64_t step = 0; step < steps; ++step) {
    auto src = random_digits(kBatchSize, device), reversed = src.flip(0);
    auto tgt = torch::cat({begin(kBatchSize, device), reversed.slice(0, 0, -1)});
    auto loss = torch::cross_entropy_loss(model(src, tgt).flatten(0, 1), reversed.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

/// The digits that the model writes, one after another.
torch::Tensor generate(TransformerLM& model, const torch::Tensor& src) {
  torch::NoGradGuard no_grad;
  model->eval();
  auto tgt = begin(src.size(1), src.device());
  for (int64_t i = 0; i < kLength; ++i)
    tgt = torch::cat({tgt, model(src, tgt).slice(0, -1).argmax(2)});
  return tgt.slice(0, 1);
}

void listing() {
  torch::manual_seed(0);
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  auto model = TransformerLM(kVocabSize, /*d_model=*/32, /*nhead=*/4, /*num_layers=*/1,
                             /*seq_len=*/kLength);
  model->to(device);

  train(model, device, /*steps=*/220);
  auto digits = random_digits(200, device);
  auto accuracy =
      generate(model, digits).eq(digits.flip(0)).to(torch::kFloat).mean().item<double>();
  std::cout << std::boolalpha << "accuracy " << accuracy << ", above 0.9: " << (accuracy > 0.9)
            << '\n';
}

int main() { return run(listing); }
