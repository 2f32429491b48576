// Fine-tuning a BERT: a classifier over the first token's output. The network is small, has random
// weights and learns whether a sequence ends as it begins; models::load_bert(folder) reads
// published weights (as of huggingface.co/bert-base-uncased) instead.
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

/// Sequences of 4 to kLength words after a token for the whole; label 1: the first and last words
/// are equal, which is so in about half of them.
Batch draw(int64_t count) {
  const Tensor lengths = randint(4, kLength + 1, {count, 1}), labels = randint(2, {count, 1});
  Tensor words = randint(kFirstWord, kFirstWord + kWords, {count, kLength});
  const Tensor first = words.slice(1, 0, 1), last = words.gather(1, lengths - 1);
  const Tensor other = (last - kFirstWord + 1).remainder(kWords) + kFirstWord;
  const Tensor unequal = where(last.eq(first), other, last);
  words.scatter_(1, lengths - 1, where(labels.eq(1), first, unequal));
  const Tensor mask = arange(kLength).lt(lengths).to(kLong);
  const Tensor begin = full({count, 1}, kBegin, kLong), seen = ones({count, 1}, kLong);
  return {cat({begin, where(mask.eq(1), words, full_like(words, kPadding))}, 1),
          cat({seen, mask}, 1), labels.squeeze(1)};
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
  for (int step = 0; step < 500; ++step) {
    const Batch batch = draw(64);
    optimizer.zero_grad();
    nn::functional::cross_entropy(model(batch.ids, batch.mask), batch.labels).backward();
    optimizer.step();
  }
  std::cout << "accuracy above 0.95: " << (accuracy(model) > 0.95) << '\n';
}
