#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hearth/distributed/ddp_comm_hooks.h"
#include "tests/distributed/ddp_models.h"
#include "tests/support/fixtures.h"

// The parameters after some steps, compared with PyTorch's DistributedDataParallel:
// tests/oracle/ddp_steps.py computed the expected values.

namespace hearth::testing {
namespace {

namespace hooks = hearth::distributed::algorithms::ddp_comm_hooks;
using nn::parallel::DistributedDataParallel;
using nn::parallel::JoinOptions;

constexpr int kRanks = 2;
constexpr int64_t kStepsOfCase = 4, kRowsOfStep = 12;

std::map<std::string, Tensor> expected_parameters() {
  std::ifstream file(fixture_path("ddp_steps.txt"));
  std::map<std::string, Tensor> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    std::vector<double> values;
    for (double value; words >> value;) values.push_back(value);
    cases[name] = tensor(values, TensorOptions(kDouble));
  }
  return cases;
}

nn::Sequential make_network() {
  nn::Sequential network(nn::Linear(6, 16), nn::Tanh(), nn::Linear(16, 3));
  network->to(kDouble);
  const NoGradGuard no_grad;
  double number = 0;
  for (Tensor& parameter : network->parameters())
    parameter.copy_((arange(parameter.numel(), kDouble) * 0.7 + number++).sin().view_as(parameter) /
                    2);
  return network;
}

/// One case of tests/oracle/ddp_steps.py.
struct DDPCase {
  DDPOptions options = DDPOptions();
  bool compresses = false;
  std::optional<bool> join = std::nullopt;  // its divide_by_initial_world_size, or no join()
  int64_t accumulate = 1;                   // backward passes in each step of the optimizer
};

Tensor train(int rank, const DDPCase& wanted) {
  nn::Sequential network = make_network();
  DistributedDataParallel model(network, wanted.options);
  if (wanted.compresses) model->register_comm_hook(hooks::fp16_compress_hook());
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  const auto steps = [&](int64_t count) {
    for (int64_t step = 0; step < count; ++step) {
      const Batch part = Batch(step, kRowsOfStep).of_rank(rank, kRanks);
      if ((step + 1) % wanted.accumulate) {
        const auto local = model->no_sync();
        mse_loss(model(part.x), part.y).backward();
        continue;
      }
      mse_loss(model(part.x), part.y).backward();
      optimizer.step();
      optimizer.zero_grad();
    }
  };
  if (!wanted.join)
    steps(kStepsOfCase);
  else
    model->join([&] { steps(kStepsOfCase - 2 * rank); },
                JoinOptions().divide_by_initial_world_size(*wanted.join));
  return flattened(network->parameters());
}

const RankFunction against_pytorch("ddp_against_pytorch", [] {
  const std::map<std::string, DDPCase> cases{
      {"plain", {}},
      {"views", {.options = DDPOptions().gradient_as_bucket_view(true)}},
      {"find_unused", {.options = DDPOptions().find_unused_parameters(true)}},
      {"static_graph", {.options = DDPOptions().static_graph(true)}},
      {"accumulate", {.accumulate = 2}},
      {"join", {.join = true}},
      {"join_divided", {.join = false}},
      {"fp16", {.compresses = true}},
  };
  const std::map<std::string, Tensor> expected = expected_parameters();
  REQUIRE(expected.size() == cases.size());
  in_group([&](int rank, int) {
    for (const auto& [name, wanted] : cases)
      require(distance(train(rank, wanted), expected.at(name)) < 1e-12, "as in PyTorch: " + name);
  });
});
TEST(DistributedDataParallel, TrainsAsPyTorch) { run_ranks_well(against_pytorch, kRanks); }

}  // namespace
}  // namespace hearth::testing
