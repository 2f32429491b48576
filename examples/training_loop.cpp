// The training loop: a network learns whether points lie inside a circle.
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

namespace {

/// Draws random points of a square; the target is 1 within distance 0.8 of the centre, else 0.
data::Example<> points(int64_t count) {
  Tensor positions = rand({count, 2}) * 2 - 1;
  return {positions, positions.pow(2).sum(/*dim=*/1).lt(0.8 * 0.8).to(kLong)};
}

double accuracy(nn::Sequential& model, const data::Example<>& set) {
  NoGradGuard no_grad;
  model->eval();
  Tensor correct = model(set.data).argmax(/*dim=*/1).eq(set.target);
  model->train();
  return correct.to(kFloat).mean().item<double>();
}

}  // namespace

int main() {
  manual_seed(1);
  const data::Example<> train = points(1024), test = points(512);

  nn::Sequential model(nn::Linear(2, 32), nn::ReLU(), nn::Linear(32, 2));
  nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(0.01));
  optim::StepLR scheduler(optimizer, /*step_size=*/10, /*gamma=*/0.5);

  for (int epoch = 1; epoch <= 20; ++epoch) {
    double sum = 0;
    const auto inputs = train.data.split(64), targets = train.target.split(64);
    for (size_t i = 0; i < inputs.size(); ++i) {
      optimizer.zero_grad();
      Tensor loss = criterion(model(inputs[i]), targets[i]);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    scheduler.step();
    if (epoch % 5 == 0)
      std::cout << "epoch " << epoch << ": loss " << sum / static_cast<double>(inputs.size())
                << '\n';
  }
  std::cout << (accuracy(model, test) > 0.95 ? "learned" : "did not learn") << '\n';
}
