#include <map>

#include "../listing.h"

namespace nn = torch::nn;

struct RNNClassifierImpl : nn::Module {
  RNNClassifierImpl(int64_t vocab_size, int64_t embedding_dim, int64_t hidden_dim,
                    int64_t num_classes)
      : Module("RNNClassifier") {
    embedding = register_module("embedding", nn::Embedding(vocab_size, embedding_dim));
    rnn = register_module("rnn", nn::RNN(embedding_dim, hidden_dim));
    fc = register_module("fc", nn::Linear(hidden_dim, num_classes));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto embedded = embedding(x);
    auto hidden = std::get<1>(rnn(embedded));
    auto output = fc(hidden.squeeze(0));
    return output;
  }

  nn::Embedding embedding = nullptr;
  nn::RNN rnn = nullptr;
  nn::Linear fc = nullptr;
};
TORCH_MODULE(RNNClassifier);

/// All sentences of the form "the film was not bad" as word ids, [length, sentences], and whether
/// they praise.
struct Reviews {
  Reviews() {
    const std::vector<std::string> good = {"good", "great", "funny", "clever", "fresh"};
    const std::vector<std::string> bad = {"bad", "awful", "dull", "silly", "stale"};
    for (const std::string noun : {"film", "story", "cast", "music", "plot", "dialogue"})
      for (const std::string verb : {"is", "was", "seems"})
        for (const std::string adverb : {"very", "quite", "not", "never"})
          for (const auto* adjectives : {&good, &bad})
            for (const auto& adjective : *adjectives)
              add({"the", noun, verb, adverb, adjective},
                  (adjectives == &good) == (adverb == "very" || adverb == "quite"));
    words = torch::tensor(ids_).view({-1, 5}).t().contiguous();
    praise = torch::tensor(labels_);
  }

  int64_t vocab_size() const { return static_cast<int64_t>(vocabulary_.size()); }
  torch::Tensor words, praise;

 private:
  void add(const std::vector<std::string>& sentence, bool praises) {
    for (const auto& word : sentence)
      ids_.push_back(vocabulary_.emplace(word, vocab_size()).first->second);
    labels_.push_back(praises);
  }

  std::map<std::string, int64_t> vocabulary_;
  std::vector<int64_t> ids_, labels_;
};

void listing() {
  torch::manual_seed(0);
  auto device = torch::Device(torch::cuda::is_available() ? "cuda" : "cpu");
  auto reviews = Reviews();
  auto model = RNNClassifier(reviews.vocab_size(), /*embedding_dim=*/16, /*hidden_dim=*/32,
                             /*num_classes=*/2);
  model->to(device);

  // The model learns from half of the sentences.
  auto order = torch::randperm(reviews.words.size(1));
  auto words = reviews.words.index_select(1, order).to(device).chunk(2, 1);
  auto praise = reviews.praise.index_select(0, order).to(device).chunk(2);
  auto optimizer = torch::optim::Adam(model->parameters(), /*lr=*/0.01);
  for (auto epoch = 0; epoch < 100; ++epoch) {
    auto loss = torch::cross_entropy_loss(model(words[0]), praise[0]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }

  torch::NoGradGuard no_grad;
  auto accuracy = model(words[1]).argmax(1).eq(praise[1]).to(torch::kFloat).mean().item<double>();
  std::cout << std::boolalpha << "accuracy " << accuracy << ", above 0.95: " << (accuracy > 0.95)
            << '\n';
}

int main() { return run(listing); }
