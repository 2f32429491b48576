// A GPT-2: trains a small one on a text, or continues tokens with published weights.
//
//   gpt2                     learns a text byte by byte, then continues its beginning
//   gpt2 FOLDER ID...        reads model.safetensors in the folder, such as that of
//                            huggingface.co/gpt2, and prints the ids of the 20 tokens that follow
#include "models/gpt2.h"

#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

namespace {

const std::string kText =
    "A tensor is an array of numbers. A module is a function with parameters. An optimizer changes "
    "them so that a loss falls.";

Tensor bytes_of(const std::string& text) {
  std::vector<int64_t> ids(text.begin(), text.end());
  return tensor(ids);
}

std::string text_of(const Tensor& ids) {
  std::string text;
  for (int64_t i = 0; i < ids.numel(); ++i) text += char(ids[i].item<int64_t>());
  return text;
}

/// Trains on windows of the text; returns the last loss.
double train(models::GPT2& model, const Tensor& text, int64_t steps) {
  const int64_t length = 72, batch = 8;
  optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(5e-3));
  double last = 0;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<Tensor> windows;
    for (const Tensor& begin : randint(text.numel() - length, {batch}).unbind())
      windows.push_back(text.narrow(0, begin, length + 1));
    const Tensor ids = stack(windows), inputs = ids.slice(1, 0, length), targets = ids.slice(1, 1);
    optimizer.zero_grad();
    const Tensor loss =
        nn::functional::cross_entropy(model(inputs).flatten(0, 1), targets.flatten());
    loss.backward();
    nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

void train_small() {
  manual_seed(0);
  models::GPT2 model(models::GPT2Options{.vocab_size = 128,
                                         .n_positions = 128,
                                         .n_embd = 64,
                                         .n_layer = 2,
                                         .n_head = 4,
                                         .dropout = 0});
  const Tensor text = bytes_of(kText);
  const double loss = train(model, text, 300);
  std::cout << std::boolalpha << "loss below 0.2: " << (loss < 0.2) << '\n';
  const Tensor begin = text.slice(0, 0, 16).unsqueeze(0);
  std::cout << text_of(model->generate(begin, 56)[0]) << '\n';
}

void continue_tokens(const std::string& folder, const std::vector<int64_t>& ids) {
  models::GPT2 model = models::load_gpt2(folder);
  const Tensor result = model->generate(tensor(ids).unsqueeze(0), 20)[0];
  for (int64_t i = int64_t(ids.size()); i < result.numel(); ++i)
    std::cout << result[i].item<int64_t>() << ' ';
  std::cout << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 1) {
      train_small();
      return 0;
    }
    std::vector<int64_t> ids;
    for (int i = 2; i < argc; ++i) ids.push_back(std::stoll(argv[i]));
    HEARTH_CHECK(!ids.empty(), "usage: gpt2 [FOLDER ID...]");
    continue_tokens(argv[1], ids);
  } catch (const std::exception& error) {
    std::cerr << "gpt2: " << error.what() << '\n';
    return 1;
  }
}
