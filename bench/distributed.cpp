// DistributedDataParallel in processes with one thread each: its overhead per step, the scaling of
// a small convolutional network, and the overlap of communication with the backward pass.
// bench/peer/distributed.py is its peer. Rank 0 prints "name best median" in microseconds.
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/measure.h"
#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "hearth/nn/distributed_data_parallel.h"

extern char** environ;

namespace {

using namespace hearth;
namespace dist = hearth::distributed;
using nn::parallel::DistributedDataParallel;

/// Steps in one measurement, so that it is longer than the clock's noise.
constexpr int kSteps = 20;

/// A training step without the optimizer, on all ranks at the same time.
template <class Model>
Times step_time(Model& model, const Tensor& x) {
  dist::barrier();
  Times times = measure([&] {
    for (int i = 0; i < kSteps; ++i) {
      model->zero_grad();
      model->forward(x).sum().backward();
    }
  });
  times.best /= kSteps;
  times.median /= kSteps;
  return times;
}

void print(const std::string& name, Times times) {
  if (dist::get_rank() == 0) std::printf("%s %.1f %.1f\n", name.c_str(), times.best, times.median);
}

/// 50 layers have 100 parameter tensors, so small that the step is all overhead.
nn::Sequential small_layers() {
  nn::Sequential net;
  for (int i = 0; i < 50; ++i) net->push_back(nn::Linear(4, 4));
  return net;
}

/// The network of the tutorials, for images of 28 x 28.
nn::Sequential small_convolutions() {
  return nn::Sequential(nn::Conv2d(1, 6, 5), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(6, 12, 5),
                        nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(192, 120),
                        nn::ReLU(), nn::Linear(120, 60), nn::ReLU(), nn::Linear(60, 10));
}

/// The step alone and with DDP. In a group of one rank, the difference is DDP's own work.
void compare(const std::string& name, const nn::Sequential& net, const Tensor& x) {
  nn::Sequential alone = net;
  print(name + ".alone", step_time(alone, x));
  DistributedDataParallel model(net);
  print(name + ".ddp", step_time(model, x));
  DistributedDataParallel views(
      net, nn::parallel::DistributedDataParallelOptions().gradient_as_bucket_view(true));
  print(name + ".ddp_views", step_time(views, x));
}

/// Backward with buckets of 1 MiB, against one bucket that is sent afterwards.
void overlap() {
  nn::Sequential net;
  for (int i = 0; i < 8; ++i) net->push_back(nn::Linear(512, 512));
  const Tensor x = randn({64, 512});
  for (const double mebibytes : {1.0, 1000.0}) {
    DistributedDataParallel model(
        net, nn::parallel::DistributedDataParallelOptions().bucket_cap_mb(mebibytes));
    print(mebibytes > 1 ? "linear.one_bucket" : "linear.overlapped", step_time(model, x));
  }
}

int run_rank() {
  set_num_threads(1);
  manual_seed(0);
  dist::init_process_group();
  const std::string prefix = std::to_string(dist::get_world_size()) + "_ranks.";
  compare(prefix + "tiny", small_layers(), randn({1, 4}));
  compare(prefix + "cnn", small_convolutions(), randn({100, 1, 28, 28}));
  if (dist::get_world_size() > 1) overlap();
  dist::destroy_process_group();
  return 0;
}

/// Runs this program again as the ranks of a job.
bool run_job(const char* program, int ranks) {
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  setenv("MASTER_PORT", std::to_string(29700 + ranks).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(ranks).c_str(), 1);
  bool all_succeeded = true;
  for (int rank = 0; rank < ranks && all_succeeded; ++rank) {
    setenv("RANK", std::to_string(rank).c_str(), 1);
    std::string name = program, role = "rank";
    char* arguments[] = {name.data(), role.data(), nullptr};
    pid_t process = 0;
    all_succeeded =
        posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0;
  }
  for (int status = 0; wait(&status) > 0;) all_succeeded &= status == 0;
  return all_succeeded;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return run_rank();
  return run_job(argv[0], 1) && run_job(argv[0], 2) ? 0 : 1;
}
