// Fine-tuning a BERT: a classifier over the first token's output. The network is small, has random
// weights and learns whether a sequence has more pleasant than unpleasant words;
// models::load_bert(folder) reads published weights instead, such as those of
// huggingface.co/bert-base-uncased.
#include "models/bert.h"

#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

namespace {

constexpr int64_t kPadding = 0, kBegin = 1, kFirstWord = 2, kWords = 8, kLength = 8;

struct ClassifierImpl : nn::Module {
  explicit ClassifierImpl(models::BertModel encoder)
      : bert(register_module("bert", std::move(encoder))),
        classifier(register_module("classifier", nn::Linear(bert->options.hidden_size, 2))) {}
  Tensor forward(const Tensor& ids, const Tensor& mask) {
    return classifier(bert(ids, mask).pooler_output);
  }

  models::BertModel bert;
  nn::Linear classifier;
};
HEARTH_MODULE(Classifier);

struct Batch {
  Tensor ids, mask, labels;
};

/// Draws sequences of up to kLength words after a token that stands for the whole sequence. The
/// first half of the word ids is pleasant; the label is 1 if these words are the majority.
Batch draw(int64_t count) {
  const Tensor lengths = randint(1, kLength + 1, {count, 1});
  const Tensor words = randint(kFirstWord, kFirstWord + kWords, {count, kLength});
  const Tensor mask = arange(kLength).lt(lengths);
  const Tensor pleasant = words.lt(kFirstWord + kWords / 2);
  const Tensor labels = where(pleasant, 1, -1).mul(mask).sum(1).gt(0);
  const Tensor begin = full({count, 1}, kBegin, kLong);
  return {cat({begin, words.masked_fill(~mask, kPadding)}, 1),
          cat({ones({count, 1}, kLong), mask.to(kLong)}, 1), labels.to(kLong)};
}

double accuracy(Classifier& model) {
  const NoGradGuard no_grad;
  model->eval();
  const Batch batch = draw(1000);
  return model(batch.ids, batch.mask).argmax(1).eq(batch.labels).to(kFloat).mean().item<double>();
}

}  // namespace

int main() {
  manual_seed(0);
  Classifier model(models::BertModel(models::BertOptions{.vocab_size = kFirstWord + kWords,
                                                         .hidden_size = 48,
                                                         .num_hidden_layers = 2,
                                                         .num_attention_heads = 4,
                                                         .intermediate_size = 96,
                                                         .max_position_embeddings = kLength + 1,
                                                         .dropout = 0}));
  std::cout << std::boolalpha;
  optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(1e-3));
  for (int step = 0; step < 300; ++step) {
    const Batch batch = draw(64);
    optimizer.zero_grad();
    nn::functional::cross_entropy(model(batch.ids, batch.mask), batch.labels).backward();
    optimizer.step();
  }
  std::cout << "accuracy above 0.95: " << (accuracy(model) > 0.95) << '\n';
}
