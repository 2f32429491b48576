#include <torch/nn/parallel/data_parallel.h>

#include "../listing.h"

namespace nn = torch::nn;

void listing() {
  auto net = nn::Linear(10, 2);
  net->to("cuda");
  auto data = torch::randn({16, 10}).to("cuda");

  auto model = nn::DataParallel(net);

  std::cout << model << '\n';
  auto output = model(data);
  std::cout << output.sizes() << ' ' << output.device() << '\n';
  std::cout << torch::allclose(output, net(data)) << '\n';
}

int main() { return run(listing); }
