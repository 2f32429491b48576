#include <gtest/gtest.h>

#include "hearth/memory_stats.h"
#include "hearth/utils/checkpoint.h"
#include "tests/distributed/ranks.h"
#include "tests/distributed/sharded_nets.h"

// fully_shard against one process that trains the same module with the whole batch.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;

using Options = dist::FullyShardOptions;

/// A net of which all parts and the net itself are sharded.
struct Sharded {
  explicit Sharded(const Options& options = {}, ScalarType dtype = kDouble) : net(make_net(dtype)) {
    parts = {dist::fully_shard(net->first, options), dist::fully_shard(net->block1, options),
             dist::fully_shard(net->block2, options), dist::fully_shard(net, options)};
  }
  dist::FSDPModule& root() { return parts.back(); }
  std::vector<Tensor> whole_parameters() {
    for (auto& part : parts) part.unshard();
    std::vector<Tensor> values;
    for (const Tensor& param : net->parameters()) values.push_back(param.detach().clone());
    for (auto& part : parts) part.reshard();
    return values;
  }

  ShardedNet net;
  std::vector<dist::FSDPModule> parts;
};

template <class Net>
void train(Net& net, const Tensor& batch, int steps, optim::Optimizer& optimizer) {
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    net(batch).square().mean().backward();
    optimizer.step();
  }
}

optim::Adam adam_of(nn::Module& net) {
  return optim::Adam(net.parameters(), optim::AdamOptions(0.05).weight_decay(0.1));
}

const RankFunction trains_like_one_process("trains_like_one_process", [] {
  in_default_group([](int, int size) {
    ShardedNet alone = make_net();
    auto alone_adam = adam_of(*alone);
    train(alone, whole_batch(), 6, alone_adam);
    for (const std::optional<bool> reshard : {std::optional<bool>(), std::optional(true), std::optional(false)}) {
      Sharded sharded(Options().reshard_after_forward(reshard));
      ShardedNet& net = sharded.net;
      auto adam = adam_of(*net);
      train(net, part_of_batch(whole_batch()), 6, adam);
      int64_t own = 0, all = 0;
      for (const Tensor& param : net->parameters()) own += param.numel();
      for (const Tensor& param : alone->parameters()) all += param.numel();
      REQUIRE(own < all * 1.35 / size);  // 12 parameters of few rows, so that padding is much
      const double error = difference(sharded.whole_parameters(), alone->parameters());
      std::printf("largest difference %g\n", error);
      REQUIRE(error < 1e-12);
    }
  });
});

TEST(FullyShard, TrainsLikeOneProcess) {
  for (const int size : {1, 2, 3, 4}) {
    const auto results = run_ranks_well(trains_like_one_process, size);
    if (size == 3) RecordProperty("output", results[0].output);
  }
}

}  // namespace
}  // namespace hearth::testing
