#include <hearth/distributed.h>
#include <hearth/nn/distributed_data_parallel.h>

#include "../listing.h"
#include "spawn.h"

namespace dist = hearth::distributed;
namespace nn = torch::nn;

constexpr int kProcesses = 2;

void train(int rank, const std::string& init_method) {
  dist::init_process_group(
      "gloo", dist::InitOptions().init_method(init_method).rank(rank).world_size(kProcesses));
  auto device = torch::Device(torch::cuda::is_available() ? "cuda:" + std::to_string(rank) : "cpu");

  auto net = nn::Linear(10, 2);
  net->to(device);
  auto model = nn::parallel::DistributedDataParallel(net);
  auto criterion = nn::MSELoss();
  auto optimizer = torch::optim::SGD(model->parameters(), 0.01);

  torch::manual_seed(rank);  // each process has its own part of the data
  auto inputs = torch::randn({8, 10}).to(device), targets = torch::randn({8, 2}).to(device);
  for (int epoch = 0; epoch < 3; ++epoch) {
    optimizer.zero_grad();
    criterion(model(inputs), targets).backward();
    optimizer.step();
  }

  // All processes have the same parameters.
  auto weights = torch::zeros({kProcesses, 2, 10});
  dist::all_gather_into_tensor(weights, net->weight.detach().cpu().unsqueeze(0));
  if (rank == 0) {
    std::cout << *model << '\n' << "on " << device.type() << '\n';
    std::cout << "equal parameters: " << torch::equal(weights[0], weights[1]) << '\n';
  }
  dist::destroy_process_group();
}

int main() { return spawn(kProcesses, train); }
