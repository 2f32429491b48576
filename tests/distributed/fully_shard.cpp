#include <gtest/gtest.h>

#include "hearth/memory_stats.h"
#include "hearth/utils/checkpoint.h"
#include "tests/distributed/ranks.h"
#include "tests/distributed/sharded_nets.h"

// fully_shard against one process that trains the same module with the whole batch, and the memory
// that fully_shard takes.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;

using Options = dist::FullyShardOptions;

Device test_device() { return cuda::is_available() ? Device(kCUDA, 0) : Device(kCPU); }

/// A net of which three modules are sharded separately, and then the other parameters.
struct Sharded {
  explicit Sharded(const Options& options) : net(make_net()) {
    net->to(test_device());
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
  in_group([](int, int size) {
    ShardedNet alone = make_net();
    alone->to(test_device());
    auto alone_adam = adam_of(*alone);
    train(alone, whole_batch().to(test_device()), 4, alone_adam);
    for (const std::optional<bool> reshard :
         {std::optional<bool>(), std::optional(true), std::optional(false)}) {
      Sharded sharded(Options().reshard_after_forward(reshard));
      ShardedNet& net = sharded.net;
      auto adam = adam_of(*net);
      train(net, part_of_batch(whole_batch()).to(test_device()), 4, adam);
      int64_t own = 0, all = 0;
      for (const Tensor& param : net->parameters()) own += param.numel();
      for (const Tensor& param : alone->parameters()) all += param.numel();
      REQUIRE(own < all * 1.35 / size);  // the parameters have few rows, so padding is large
      const double error = difference(sharded.whole_parameters(), alone->parameters());
      std::printf("largest difference %g\n", error);
      REQUIRE(error < 1e-12);
    }
  });
});

TEST(FullyShard, TrainsLikeOneProcess) {
  for (const int size : {2, 3, 4}) run_ranks_well(trains_like_one_process, size);
}

/// Six layers with weights of 256 x 256.
nn::Sequential large_layers() {
  nn::Sequential layers;
  for (int i = 0; i < 6; ++i) layers->push_back(nn::Linear(256, 256));
  return layers;
}

int64_t tagged_bytes(MemoryTag tag) { return memory_stats(kCPU).of(tag).current; }

const RankFunction keeps_a_part("keeps_a_part", [] {
  in_group([](int, int size) {
    const int64_t whole = 6 * (256 * 256 + 256) * 4;
    nn::Sequential layers = large_layers();
    for (auto& layer : *layers) dist::fully_shard(*layer.ptr());
    dist::fully_shard(layers);
    const auto is_part = [&](int64_t bytes, int64_t copies) {
      std::printf("%g of %d copies\n", double(bytes) / double(whole), int(copies));
      return bytes < copies * whole * 1.15 / size;  // blocks are rounded up
    };
    REQUIRE(is_part(tagged_bytes(MemoryTag::Parameter), 1));
    auto adam = optim::Adam(layers->parameters(), 1e-3);
    const Tensor x = ones({4, 256});
    for (int step = 0; step < 2; ++step) {
      reset_peak_memory_stats(kCPU);
      const Tensor loss = layers->forward(x).square().mean();
      // Tensors that ops have saved keep no gathered parameter in memory.
      REQUIRE(is_part(tagged_bytes(MemoryTag::Parameter), 1));
      loss.backward();
      // Never more than the shards and three gathered layers.
      const int64_t peak = memory_stats(kCPU).of(MemoryTag::Parameter).peak;
      REQUIRE(peak < whole / size * 1.15 + whole / 6 * 3.1);
      adam.step();
      REQUIRE(is_part(tagged_bytes(MemoryTag::Parameter), 1));
      REQUIRE(is_part(tagged_bytes(MemoryTag::OptimizerState), 2));
      // The group's thread may have one more buffer that it is about to free.
      REQUIRE(tagged_bytes(MemoryTag::Gradient) < whole * 1.15 / size + whole / 6 * 1.15);
    }
  });
});

TEST(FullyShard, EachRankKeepsItsPartInMemory) {
  for (const int size : {2, 4}) run_ranks_well(keeps_a_part, size);
}

}  // namespace
}  // namespace hearth::testing
