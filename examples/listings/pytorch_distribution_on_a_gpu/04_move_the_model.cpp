#include "../listing.h"

namespace nn = torch::nn;

void listing() {
  auto model = nn::Linear(10, 2);  // Example model

  model->to(torch::kCUDA);

  for (const auto& [name, parameter] : model->named_parameters().pairs())
    std::cout << name << ' ' << parameter.device() << '\n';
}

int main() { return run(listing); }
