// A Transformer that learns two tasks from examples only: to reverse digits, and to add numbers.
//
//   transformer_tasks          ten digits reversed, numbers of three digits added: all of 1,000 new
//                              questions right, after a minute and a half
//   transformer_tasks quick    four digits and one digit, for a first look
#include <hearth/hearth.h>

#include <cmath>
#include <functional>
#include <iostream>

using namespace hearth;

namespace {

constexpr int64_t kPlus = 10, kBegin = 11;  // symbols after the digits 0 to 9
constexpr int64_t kSymbols = 12;            // the number of symbols

/// Questions [N, L] and their answers [N, M].
using Examples = std::pair<Tensor, Tensor>;

Examples to_reverse(int64_t count, int64_t length) {
  const Tensor digits = randint(10, {count, length}, TensorOptions(kLong));
  return {digits, digits.flip(1)};
}

/// The digits of numbers, the last one first: in this order each digit of a sum depends on the
/// carry before it.
Tensor digits_of(const Tensor& numbers, int64_t length) {
  std::vector<Tensor> digits;
  int64_t power = 1;
  for (int64_t i = 0; i < length; ++i, power *= 10)
    digits.push_back(numbers.div(power, "floor").remainder(10));
  return stack(digits, 1);
}

Examples to_add(int64_t count, int64_t length) {
  const auto end = static_cast<int64_t>(std::pow(10, length));
  const Tensor a = randint(end, {count}, TensorOptions(kLong));
  const Tensor b = randint(end, {count}, TensorOptions(kLong));
  const Tensor plus = full({count, 1}, kPlus, TensorOptions(kLong));
  return {cat({digits_of(a, length), plus, digits_of(b, length)}, 1), digits_of(a + b, length + 1)};
}

struct SolverImpl : nn::Module {
  explicit SolverImpl(int64_t width, int64_t layers)
      : embedding(register_module("embedding", nn::Embedding(kSymbols, width))),
        positions(register_module("positions", nn::Embedding(32, width))),
        transformer(register_module("transformer",
                                    nn::Transformer(nn::TransformerOptions(width, /*nhead=*/4)
                                                        .num_encoder_layers(layers)
                                                        .num_decoder_layers(layers)
                                                        .dim_feedforward(2 * width)
                                                        .dropout(0)))),
        output(register_module("output", nn::Linear(width, kSymbols))) {}

  /// The scores of each symbol of the answer, from the question and the symbols before it.
  Tensor forward(const Tensor& question, const Tensor& before) {
    const Tensor mask =
        nn::TransformerImpl::generate_square_subsequent_mask(before.size(1)).to(before.device());
    return output(transformer(embed(question), embed(before), /*src_mask=*/Tensor(), mask))
        .transpose(0, 1);
  }

  nn::Embedding embedding, positions;
  nn::Transformer transformer;
  nn::Linear output;

 private:
  /// [N, L] to [L, N, width].
  Tensor embed(const Tensor& symbols) {
    return (embedding(symbols) + positions(arange(symbols.size(1), symbols.options())))
        .transpose(0, 1);
  }
};
HEARTH_MODULE(Solver);

Tensor begin_of(const Tensor& question) {
  return full({question.size(0), 1}, kBegin, question.options());
}

void train(Solver& solver, const std::function<Examples()>& draw, Device device, int64_t steps) {
  optim::Adam optimizer(solver->parameters(), optim::AdamOptions(2e-3));
  optim::OneCycleLR schedule(optimizer, optim::OneCycleLROptions(2e-3).total_steps(steps));
  for (int64_t step = 0; step < steps; ++step) {
    auto [question, answer] = draw();
    question = question.to(device), answer = answer.to(device);
    const Tensor before = cat({begin_of(question), answer.slice(1, 0, -1)}, 1);
    const Tensor loss =
        cross_entropy_loss(solver(question, before).flatten(0, 1), answer.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    schedule.step();
  }
}

/// The answers [N, length], one symbol after another.
Tensor solve(Solver& solver, const Tensor& question, int64_t length) {
  const NoGradGuard no_grad;
  Tensor written = begin_of(question);
  for (int64_t i = 0; i < length; ++i)
    written = cat({written, solver(question, written).slice(1, -1).argmax(2)}, 1);
  return written.slice(1, 1);
}

/// Trains a network and prints the share of new questions that it answers without any mistake.
void learn(const std::string& task, const std::function<Examples(int64_t)>& draw, bool quick) {
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  Solver solver(quick ? 32 : 64, quick ? 1 : 2);
  solver->to(device);
  train(
      solver, [&] { return draw(64); }, device, quick ? 300 : 2500);
  const auto [question, answer] = draw(1000);
  const Tensor solved = solve(solver, question.to(device), answer.size(1)).cpu();
  const Tensor right = solved.eq(answer).all(1);
  std::cout << task << ": " << right.to(kFloat).mean().item<double>() << " right\n";
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string(argv[1]) == "quick";
  manual_seed(0);
  learn(
      "reverse", [&](int64_t count) { return to_reverse(count, quick ? 4 : 10); }, quick);
  learn(
      "add", [&](int64_t count) { return to_add(count, quick ? 1 : 3); }, quick);
}
