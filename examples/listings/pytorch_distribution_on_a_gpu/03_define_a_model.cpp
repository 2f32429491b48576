#include "../listing.h"

namespace nn = torch::nn;

void listing() {
  auto model = nn::Linear(10, 2);  // Example model

  std::cout << model << " on " << model->weight.device() << '\n';
}

int main() { return run(listing); }
