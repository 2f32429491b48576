// A GPT that reads and writes characters.
//
//   char_gpt          learns made-up sentences: 0.462 bits per character after half a minute; no
//                      model can reach less than their entropy, 0.457
//   char_gpt FILE     learns nine tenths of a text file and is measured on the rest
//   char_gpt quick    a small network on the sentences, for a first look
#include <hearth/hearth.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>

#include "models/gpt2.h"
#include "sentences.h"

using namespace hearth;

namespace {

struct Setting {
  int64_t width, layers, context, batch, steps;
};
constexpr Setting kQuick{48, 2, 64, 12, 200}, kFull{64, 2, 96, 32, 600};

models::GPT2 make_model(const Setting& setting) {
  return models::GPT2(models::GPT2Options{.vocab_size = 128,
                                          .n_positions = setting.context,
                                          .n_embd = setting.width,
                                          .n_layer = setting.layers,
                                          .n_head = 4,
                                          .dropout = 0});
}

/// The loss of each character but the first: [windows, length - 1] for windows [windows, length].
Tensor losses(models::GPT2& model, const Tensor& windows) {
  const Tensor scores = model(windows.slice(1, 0, -1)), next = windows.slice(1, 1);
  return cross_entropy_loss(scores.flatten(0, 1), next.flatten(), {}, Reduction::None)
      .view_as(next);
}

/// Bits per character, of those characters before which the model sees at least half a window.
double bits_per_character(models::GPT2& model, const Tensor& text, int64_t context) {
  const NoGradGuard no_grad;
  const Tensor test = sentences::windows(text, 200, context + 1);
  return losses(model, test).slice(1, context / 2).mean().item<double>() / std::log(2);
}

void train(models::GPT2& model, const Tensor& text, const Setting& setting) {
  optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(5e-3));
  optim::OneCycleLR schedule(optimizer,
                             optim::OneCycleLROptions(/*max_lr=*/5e-3).total_steps(setting.steps));
  for (int64_t step = 1; step <= setting.steps; ++step) {
    const Tensor loss =
        losses(model, sentences::windows(text, setting.batch, setting.context + 1)).mean();
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(model->parameters(), 1);
    optimizer.step();
    schedule.step();
    if (step % 250 == 0)
      std::cout << "step " << step << ": " << loss.item<double>() / std::log(2) << " bits"
                << std::endl;
  }
}

/// The file's content, with ? for each byte that is not ASCII.
std::string content_of(const std::string& file) {
  std::ifstream stream(file);
  HEARTH_CHECK(stream, "cannot read '", file, "'");
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 128) c = '?';
  return text;
}

void run(const std::string& argument) {
  manual_seed(0);
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  const Setting& setting = argument == "quick" ? kQuick : kFull;
  const bool is_file = !argument.empty() && argument != "quick";
  const Tensor text =
      sentences::codes(is_file ? content_of(argument) : sentences::text(3000)).to(device);
  const int64_t train_length = text.numel() * 9 / 10;
  HEARTH_CHECK(text.numel() - train_length > 2 * setting.context, "the text is too short");
  models::GPT2 model = make_model(setting);
  model->to(device);
  train(model, text.slice(0, 0, train_length), setting);

  std::cout << "bits per character: "
            << bits_per_character(model, text.slice(0, train_length), setting.context) << '\n';
  if (!is_file) std::cout << "no model can reach less than " << sentences::entropy() << '\n';
  const Tensor start = text.slice(0, 0, 8).unsqueeze(0);
  std::string written = sentences::text_of(model->generate(start, setting.context - 8)[0]);
  std::replace(written.begin(), written.end(), '\n', ' ');
  std::cout << written << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::cerr << "hearth: " << error.what() << '\n';
    return 1;
  }
}
