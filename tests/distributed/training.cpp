// A small training for tests/distributed/namespaces.sh, which runs it under `hearth launch`.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "hearth/io/checkpoint.h"
#include "tests/distributed/ranks.h"

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;

/// The next two functions together work like DistributedDataParallel: all ranks begin with the
/// weights of rank 0, and get the mean of their gradients.
void share_parameters(const nn::Sequential& model) {
  NoGradGuard no_grad;
  for (Tensor& parameter : model->parameters()) dist::broadcast(parameter, 0);
}
void average_gradients(const nn::Sequential& model) {
  for (Tensor& parameter : model->parameters())
    dist::all_reduce(parameter.mutable_grad(), dist::ReduceOp::AVG);
}

/// Trains 40 steps on 24 samples, divided equally among the ranks, and prints the sum of the
/// squared weights. After every step, rank 0 saves the training in $HEARTH_TEST_CHECKPOINT, from
/// which a restarted job continues.
const RankFunction training("training", [] {
  dist::init_process_group();
  const int rank = dist::get_rank(), size = dist::get_world_size();
  manual_seed(0);
  const Tensor x = randn({24, 3}, kDouble), y = x.pow(2).sum(1, /*keepdim=*/true);
  nn::Sequential model(nn::Linear(3, 8), nn::Tanh(), nn::Linear(8, 1));
  model->to(kDouble);
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.05).momentum(0.9));
  int64_t step = 0;
  io::Checkpoint checkpoint;
  checkpoint.add("model", model).add("optimizer", optimizer).add("step", step);
  const std::string file = std::getenv("HEARTH_TEST_CHECKPOINT");
  // The machines of this test share a disk.
  if (std::filesystem::exists(file)) checkpoint.load(file);
  if (rank == 0) std::printf("%d ranks begin at step %d\n", size, static_cast<int>(step));
  std::fflush(stdout);
  share_parameters(model);
  const Tensor my_x = x.chunk(size)[size_t(rank)], my_y = y.chunk(size)[size_t(rank)];
  while (step < 40) {
    optimizer.zero_grad();
    nn::functional::mse_loss(model->forward(my_x), my_y).backward();
    average_gradients(model);
    optimizer.step();
    ++step;
    if (rank == 0) checkpoint.save(file);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time to be killed
  }
  double norm = 0;
  for (const Tensor& parameter : model->parameters()) norm += parameter.pow(2).sum().item<double>();
  if (rank == 0) std::printf("weights %.17g\n", norm);
  dist::destroy_process_group();
});

}  // namespace
}  // namespace hearth::testing
