#include <gtest/gtest.h>

#include "tests/distributed/ranks.h"
#include "tests/distributed/sharded_nets.h"

// Gathered parameters of fully_shard that a program changes.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;

std::vector<Tensor> gathered(const ShardedNet& net, std::vector<dist::FSDPModule>& parts) {
  for (auto& part : parts) part.unshard();
  std::vector<Tensor> values;
  for (const Tensor& param : net->parameters()) values.push_back(param.detach().clone());
  for (auto& part : parts) part.reshard();
  return values;
}

/// Sets each parameter to other values.
void change(const nn::Module& net) {
  const NoGradGuard no_grad;
  double value = 0;
  for (Tensor& param : net.parameters())
    param.copy_(arange(param.numel(), kDouble).view(param.sizes()) * 0.01 + (value += 0.1));
}

const RankFunction writes_are_kept("writes_are_kept", [] {
  in_group([](int, int) {
    ShardedNet whole = make_net(), net = make_net();
    std::vector<dist::FSDPModule> parts{dist::fully_shard(net->block1), dist::fully_shard(net)};
    const std::vector<Tensor> before = gathered(net, parts);
    REQUIRE(difference(before, whole->parameters()) == 0);
    for (auto& part : parts) part.unshard();
    change(*net);
    for (auto& part : parts) part.reshard();
    change(*whole);
    REQUIRE(difference(gathered(net, parts), whole->parameters()) == 0);
    // A change of one parameter leaves the others as they are.
    for (auto& part : parts) part.unshard();
    for (const ShardedNet& one : {net, whole}) {
      const NoGradGuard no_grad;
      one->block1->up->bias.select(0, 4).fill_(-1);
    }
    for (auto& part : parts) part.reshard();
    REQUIRE(difference(gathered(net, parts), whole->parameters()) == 0);
    // Training continues from the new values.
    optim::SGD sgd(net->parameters(), 0.1), whole_sgd(whole->parameters(), 0.1);
    net(part_of_batch(whole_batch())).square().mean().backward();
    sgd.step();
    whole(whole_batch()).square().mean().backward();
    whole_sgd.step();
    REQUIRE(difference(gathered(net, parts), whole->parameters()) < 1e-6);
  });
});
TEST(FullyShard, KeepsWritesToGatheredParameters) {
  for (const int size : {1, 2, 3}) run_ranks_well(writes_are_kept, size);
}

const RankFunction writes_are_refused("writes_are_refused", [] {
  in_group([](int, int) {
    nn::Linear net(4, 4);
    const auto policy = dist::MixedPrecisionPolicy().param_dtype(kBFloat16);
    auto part = dist::fully_shard(*net, dist::FullyShardOptions().mp_policy(policy));
    const Tensor before = net->weight.detach().clone();
    part.unshard();
    {
      const NoGradGuard no_grad;
      net->weight.zero_();
    }
    REQUIRE_ERROR(part.reshard(),
                  "fully_shard: parameter 'weight' was changed while it was gathered as BFloat16 "
                  "[4, 4], but its shard is part of Float [4, 4]. The change is lost");
    REQUIRE(equal(net->weight, before));
    part.unshard();
    part.reshard();
    REQUIRE(equal(net->weight, before));
  });
});
TEST(FullyShard, RefusesWritesInAnotherPrecision) { run_ranks_well(writes_are_refused, 2); }

}  // namespace
}  // namespace hearth::testing
