// An LSTM that writes text, one character after another.
//
//   lstm_text          learns made-up sentences for half a minute, then writes 200 of its own at
//                      each of two temperatures: 98 % are right at 1, all at 0.5
//   lstm_text quick    less training, for a first look
#include <hearth/hearth.h>

#include <cmath>
#include <iostream>

#include "sentences.h"

using namespace hearth;

namespace {

using State = std::tuple<Tensor, Tensor>;

struct WriterImpl : nn::Module {
  explicit WriterImpl(int64_t width)
      : embedding(register_module("embedding", nn::Embedding(128, 32))),
        lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(32, width).batch_first(true)))),
        output(register_module("output", nn::Linear(width, 128))) {}

  /// The scores of the next characters, and the state after the text [N, L].
  std::tuple<Tensor, State> forward(const Tensor& text, const std::optional<State>& state = {}) {
    auto [features, new_state] = lstm->forward(embedding(text), state);
    return {output(features), new_state};
  }

  nn::Embedding embedding;
  nn::LSTM lstm;
  nn::Linear output;
};
HEARTH_MODULE(Writer);

/// Returns the bits per character of the last batch.
double train(Writer& writer, const Tensor& text, int64_t steps) {
  double bits = 0;
  optim::Adam optimizer(writer->parameters(), optim::AdamOptions(2e-2));
  optim::CosineAnnealingLR schedule(optimizer, steps);
  for (int64_t step = 0; step < steps; ++step) {
    const Tensor batch = sentences::windows(text, /*count=*/32, /*length=*/49);
    const Tensor scores = std::get<0>(writer->forward(batch.slice(1, 0, -1)));
    const Tensor loss = cross_entropy_loss(scores.flatten(0, 1), batch.slice(1, 1).flatten());
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(writer->parameters(), 1);
    optimizer.step();
    schedule.step();
    bits = loss.item<double>() / std::log(2);
  }
  return bits;
}

/// Writes `count` texts at once, all after the same random sentence. Each character is drawn by its
/// probability; a temperature below 1 prefers likely ones.
std::vector<std::string> write(Writer& writer, Device device, int64_t count, double temperature) {
  const NoGradGuard no_grad;
  std::vector<std::string> texts(size_t(count), "");
  Tensor input = sentences::codes(sentences::text(1)).to(device).expand({count, -1});
  std::optional<State> state;
  for (int64_t i = 0; i < 50; ++i) {  // no sentence is longer
    auto [scores, new_state] = writer->forward(input, state);
    state = new_state;
    input = multinomial((scores.select(1, -1) / temperature).softmax(1), 1);
    const std::string characters = sentences::text_of(input.flatten());
    for (size_t n = 0; n < texts.size(); ++n) texts[n] += characters[n];
  }
  return texts;
}

/// The share of texts whose first line is a sentence.
double share_of_sentences(const std::vector<std::string>& texts) {
  int64_t right = 0;
  for (const std::string& text : texts)
    right += sentences::is_sentence(text.substr(0, text.find('\n')));
  return double(right) / double(texts.size());
}

void run(bool quick) {
  manual_seed(0);
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  const Tensor text = sentences::codes(sentences::text(3000)).to(device);
  Writer writer(quick ? 64 : 128);
  writer->to(device);
  const double bits = train(writer, text, /*steps=*/quick ? 250 : 1500);
  std::cout << "bits per character: " << bits << ", at least " << sentences::entropy() << '\n';
  for (const double temperature : {1.0, 0.5}) {
    const auto texts = write(writer, device, 200, temperature);
    std::cout << "right sentences at temperature " << temperature << ": "
              << share_of_sentences(texts) << '\n';
    if (temperature == 1) std::cout << texts[0].substr(0, texts[0].find('\n')) << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) { run(argc > 1 && std::string(argv[1]) == "quick"); }
