#include "../listing.h"

void listing() {
  auto model = torch::nn::Linear(10, 2);
  auto criterion = torch::nn::CrossEntropyLoss();
  model->to("cuda");
  auto optimizer = torch::optim::SGD(model->parameters(), 0.1);

  // Assuming 'data' is your input and 'target' is your label
  auto data = torch::randn({16, 10}), target = torch::randint(2, {16});
  data = data.to("cuda"), target = target.to("cuda");

  // Forward pass
  auto output = model(data);

  // Compute loss
  auto loss = criterion(output, target);

  // Backward pass and optimization
  loss.backward();
  optimizer.step();

  std::cout << loss << '\n';
  std::cout << (criterion(model(data), target) < loss).item<bool>() << '\n';
}

int main() { return run(listing); }
