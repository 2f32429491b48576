#include "hearth/distributed/zero.h"

#include <gtest/gtest.h>

#include "hearth/memory_stats.h"
#include "tests/distributed/ranks.h"
#include "tests/distributed/sharded_nets.h"
#include "tests/support/files.h"
#include "tests/support/warnings.h"

// ZeroRedundancyOptimizer against the optimizer of one process.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using Zero = dist::ZeroRedundancyOptimizer;

std::unique_ptr<optim::Optimizer> make_adam(const Zero::Groups& groups) {
  return std::make_unique<optim::Adam>(groups, optim::AdamOptions(0.05).weight_decay(0.1));
}

/// A group of the weights, and one of the other parameters with a learning rate of its own.
Zero::Groups two_groups(const nn::Module& net) {
  std::vector<Tensor> weights, biases;
  for (const Tensor& param : net.parameters())
    (param.dim() > 1 ? weights : biases).push_back(param);
  return {optim::OptimizerParamGroup(weights),
          optim::OptimizerParamGroup(biases, std::make_unique<optim::AdamOptions>(0.01))};
}

/// Computes the gradients; if `averages`, all ranks get their mean, as in DistributedDataParallel.
void compute_gradients(ShardedNet& net, const Tensor& batch, bool averages) {
  net->zero_grad();
  net(batch).square().mean().backward();
  if (!averages) return;
  for (const Tensor& param : net->parameters()) dist::all_reduce(param.grad(), dist::ReduceOp::AVG);
}

void train_alone(ShardedNet& net, optim::Optimizer& optimizer, int steps) {
  optim::StepLR schedule(optimizer, 2, 0.5);
  for (int i = 0; i < steps; ++i) {
    compute_gradients(net, whole_batch(), false);
    optimizer.step();
    schedule.step();
  }
}

void train_together(ShardedNet& net, Zero& optimizer, int steps) {
  optim::StepLR schedule(optimizer, 2, 0.5);
  for (int i = 0; i < steps; ++i) {
    compute_gradients(net, part_of_batch(whole_batch()), true);
    optimizer.step();
    schedule.step();
  }
}

const RankFunction zero_trains("zero_trains", [] {
  in_group([](int rank, int size) {
    ShardedNet alone = make_net();
    const auto adam = make_adam(two_groups(*alone));
    train_alone(alone, *adam, 5);
    for (const bool bucket_view : {false, true}) {
      ShardedNet net = make_net();
      const auto options =
          dist::ZeroRedundancyOptimizerOptions().parameters_as_bucket_view(bucket_view);
      Zero zero(two_groups(*net), make_adam, options);
      train_together(net, zero, 5);
      const double error = difference(net->parameters(), alone->parameters());
      std::printf("largest difference %g\n", error);
      REQUIRE(error < 1e-12);
      // Each rank has the state of its parameters only.
      int64_t own = 0, largest = 0, all = 0;
      for (const auto& group : zero.optim().param_groups())
        for (const Tensor& param : group.params()) own += param.numel();
      for (const Tensor& param : net->parameters()) {
        all += param.numel();
        largest = std::max(largest, param.numel());
        REQUIRE(zero.rank_of(param) < size);
      }
      REQUIRE(own <= all / size + largest && own > 0);
      REQUIRE(zero.param_groups()[0].params().size() == 6);

      zero.consolidate_state_dict(size - 1);
      if (rank != size - 1) {
        REQUIRE_ERROR(zero.state_dict(),
                      "has not been consolidated on this rank. Please call "
                      "`consolidate_state_dict(to=");
        continue;
      }
      ShardedNet copy = make_net();
      const auto plain = make_adam(two_groups(*copy));
      const optim::Optimizer& base = zero;
      plain->load_state_dict(base.state_dict());
      copy->load_state_dict(net->state_dict());
      ShardedNet longer = make_net();
      const auto reference = make_adam(two_groups(*longer));
      compute_gradients(copy, whole_batch(), false);
      plain->step();
      reference->load_state_dict(adam->state_dict());
      longer->load_state_dict(alone->state_dict());
      compute_gradients(longer, whole_batch(), false);
      reference->step();
      REQUIRE(difference(copy->parameters(), longer->parameters()) < 1e-12);
    }
  });
});

TEST(ZeroRedundancyOptimizer, TrainsLikeOneProcess) {
  for (const int size : {2, 3, 4}) run_ranks_well(zero_trains, size);
}

const RankFunction zero_resumes("zero_resumes", [] {
  in_group([](int rank, int) {
    ShardedNet alone = make_net(), net = make_net();
    const auto adam = make_adam(two_groups(*alone));
    Zero zero(two_groups(*net), make_adam);
    const std::string path = setting("FILE");
    if (setting("SAVES")) {
      train_together(net, zero, 3);
      zero.consolidate_state_dict();
      if (rank == 0) save(zero, path + ".optimizer");
      if (rank == 0) save(net, path + ".net");
      dist::barrier();
    } else {
      load(zero, path + ".optimizer");
      load(net, path + ".net");
      train_together(net, zero, 2);
      train_alone(alone, *adam, 3);
      train_alone(alone, *adam, 2);
      REQUIRE(difference(net->parameters(), alone->parameters()) < 1e-12);
    }
  });
});

TEST(ZeroRedundancyOptimizer, ResumesWithAnotherNumberOfRanks) {
  const TempFolder folder;
  RankOptions options;
  options.environment = {{"FILE", folder.path("zero")}, {"SAVES", "1"}};
  run_ranks_well(zero_resumes, 3, options);
  options.environment.erase("SAVES");
  run_ranks_well(zero_resumes, 2, options);
}

const RankFunction zero_memory("zero_memory", [] {
  in_group([](int, int size) {
    std::vector<Tensor> params;
    for (int i = 0; i < 8; ++i) params.push_back(zeros({256, 256}).requires_grad_());
    Zero zero(params, [](const Zero::Groups& groups) {
      return std::make_unique<optim::Adam>(groups, optim::AdamOptions(0.1));
    });
    for (const Tensor& param : params) param.mutable_grad() = ones({256, 256});
    zero.step();
    const int64_t bytes = memory_stats(kCPU).of(MemoryTag::OptimizerState).current;
    std::printf("optimizer state: %g MB\n", double(bytes) * 1e-6);
    REQUIRE(bytes <= int64_t(8 * 256 * 256) * 4 * 2 * 1.05 / size);
    REQUIRE(std::abs(params[7][3][3].item<double>() + 0.1) < 1e-6);
  });
});

TEST(ZeroRedundancyOptimizer, DividesTheStateAmongTheRanks) {
  for (const int size : {2, 4}) run_ranks_well(zero_memory, size);
}

const RankFunction zero_errors("zero_errors", [] {
  in_group([](int rank, int) {
    ShardedNet net = make_net();
    Zero zero(net->first->parameters(), make_adam);
    zero.add_param_group(optim::OptimizerParamGroup(net->block1->parameters()));
    REQUIRE(zero.param_groups().size() == 2 && zero.optim().param_groups().size() == 2);
    REQUIRE(zero.rank_of(net->block1->up->weight) != zero.rank_of(net->block1->down->weight));
    REQUIRE_ERROR(zero.rank_of(net->last->weight), "not a parameter of this");
    REQUIRE_ERROR(zero.consolidate_state_dict(2), "there is no rank 2 in a group of 2 ranks");
    const auto other = make_adam({optim::OptimizerParamGroup(net->first->parameters())});
    REQUIRE_ERROR(zero.load_state_dict(other->state_dict()),
                  "a different number of parameter groups: 1 for 2");
    const optim::SGD sgd(net->parameters(), 0.1);
    Zero one_group(net->parameters(), make_adam);
    const double lr = one_group.param_groups()[0].options().get_lr();
    REQUIRE_ERROR(one_group.load_state_dict(sgd.state_dict()), "is from the optimizer SGD");
    REQUIRE(one_group.param_groups()[0].options().get_lr() == lr);
    optim::StateDict wrong = other->state_dict();
    wrong.insert("state.x.exp_avg", 1.0);
    REQUIRE_ERROR(zero.load_state_dict(wrong), "has the key 'state.x.exp_avg', which an optimizer");
    optim::StateDict short_key = other->state_dict();
    short_key.insert("state", 1.0);
    REQUIRE_ERROR(zero.load_state_dict(short_key), "has the key 'state', which an optimizer");
    REQUIRE_ERROR(Zero(net->parameters(), Zero::Factory()), "needs a function that creates");
    const std::vector<Tensor> params{zeros({rank + 2}).requires_grad_()};
    REQUIRE_ERROR(
        Zero(params, make_adam),
        "ZeroRedundancyOptimizer: the ranks have different parameters. Number 0 of rank 1 "
        "is 'group 0': Float [3], but that of rank 0 is 'group 0': Float [2]. All ranks "
        "must pass the same parameters in the same groups");
  });
});

TEST(ZeroRedundancyOptimizer, RefusesWrongParametersAndStates) { run_ranks_well(zero_errors, 2); }

}  // namespace
}  // namespace hearth::testing
