#include <gtest/gtest.h>

#include <sstream>

#include "tests/distributed/ddp_models.h"
#include "tests/support/throws.h"

// DistributedDataParallel against one process that has the whole batch.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using nn::parallel::DistributedDataParallel;

constexpr int64_t kRows = 24;  // divisible by 2, 3 and 4

/// Steps of SGD with momentum on the whole batch.
Tensor trained_alone(int64_t steps) {
  nn::Sequential net = make_mlp();
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (int64_t step = 0; step < steps; ++step) {
    const Batch batch(step, kRows);
    optimizer.zero_grad();
    mse_loss(net->forward(batch.x), batch.y).backward();
    optimizer.step();
  }
  return flattened(net->parameters());
}

/// The same steps by all ranks together.
Tensor trained_together(int rank, int size, int64_t steps, const DDPOptions& options,
                        Device device = kCPU) {
  nn::Sequential net = make_mlp(1 + uint64_t(rank));  // DDP broadcasts rank 0's
  net->to(device);
  DistributedDataParallel model(net, options);
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (int64_t step = 0; step < steps; ++step) {
    const Batch batch = Batch(step, kRows).of_rank(rank, size);
    optimizer.zero_grad(/*set_to_none=*/step % 2 == 0);
    mse_loss(model(batch.x.to(device)), batch.y.to(device)).backward();
    optimizer.step();
  }
  return flattened(net->parameters()).cpu();
}

const RankFunction equals_whole_batch("ddp_equals_whole_batch", [] {
  in_group([](int rank, int size) {
    constexpr int64_t kSteps = 5;
    const Tensor expected = trained_alone(kSteps);
    const DDPOptions variants[] = {
        DDPOptions(),
        DDPOptions().gradient_as_bucket_view(true),
        DDPOptions().bucket_cap_mb(0.0005),
        DDPOptions().bucket_cap_mb(0.0005).gradient_as_bucket_view(true),
        DDPOptions().find_unused_parameters(true).bucket_cap_mb(0.001),
        DDPOptions().static_graph(true).bucket_cap_mb(0.001).gradient_as_bucket_view(true),
    };
    for (const DDPOptions& options : variants) {
      const Tensor parameters = trained_together(rank, size, kSteps, options);
      REQUIRE(distance(parameters, expected) < 1e-13);
      REQUIRE(is_equal_on_all_ranks(parameters));
    }
  });
});
TEST(DistributedDataParallel, EqualsOneProcessWithTheWholeBatch) {
  for (const int size : {1, 2, 3, 4}) run_ranks_well(equals_whole_batch, size);
}

const RankFunction on_gpu("ddp_on_gpu", [] {
  in_group([](int rank, int size) {
    const Device device(kCUDA, 0);
    const Tensor expected = trained_alone(3);
    for (const bool as_view : {false, true}) {
      const Device named = as_view ? device : Device(kCUDA);  // without index: the current device
      const auto options = DDPOptions()
                               .device_ids(std::vector<Device>{named})
                               .bucket_cap_mb(0.001)
                               .gradient_as_bucket_view(as_view);
      const Tensor parameters = trained_together(rank, size, 3, options, device);
      REQUIRE(distance(parameters, expected) < 1e-13);
      REQUIRE(is_equal_on_all_ranks(parameters));
    }
  });
});
TEST(DistributedDataParallel, WorksOnSimulatedGpus) {
  run_ranks_well(on_gpu, 2, {.environment = {{"HEARTH_SIM_GPUS", "1"}}});
  run_ranks_well(on_gpu, 2, {.environment = {{"HEARTH_SIM_GPUS", "1"}, {"HEARTH_SIM_LAZY", "1"}}});
}

/// The names of the parameters of each bucket in the order of communication, for each step.
std::vector<std::vector<std::string>> buckets_of_steps(nn::Sequential net, DDPOptions options,
                                                       int64_t steps) {
  DistributedDataParallel model(net, options.bucket_cap_mb(0.0005));
  std::vector<std::vector<std::string>> result;
  model->register_comm_hook([&](dist::GradBucket& bucket) {
    if (bucket.index() == 0) result.emplace_back();
    std::string names;
    for (const Tensor& parameter : bucket.parameters())
      for (const auto& item : net->named_parameters())
        if (item.value().is_same(parameter)) names += item.key() + " ";
    result.back().push_back(names);
    REQUIRE(bucket.is_last() == (names.find("0.weight") != std::string::npos));
    return dist::Future(bucket.buffer());
  });
  for (int64_t step = 0; step < steps; ++step) model(Batch(step, 2).x).sum().backward();
  return result;
}

const RankFunction bucket_order("ddp_bucket_order", [] {
  in_group([](int, int) {
    // 0.0005 MiB are 524 bytes: 4.weight has 288, 2.weight 1536 and 0.weight 768.
    const std::vector<std::string> reverse{"4.bias 4.weight 2.bias 2.weight ", "0.bias 0.weight "};
    const auto steps = buckets_of_steps(make_mlp(), DDPOptions(), 2);
    REQUIRE(steps.size() == 2 && steps[0] == reverse);
    // From the second step on, in the order of backward, where a bias may precede its weight or
    // not.
    REQUIRE(steps[1].size() == 2 && steps[1][0].find('0') == std::string::npos);
    REQUIRE(buckets_of_steps(make_mlp(), DDPOptions().find_unused_parameters(true), 2)[1] ==
            reverse);
  });
});
TEST(DistributedDataParallel, BucketsFollowTheOrderOfBackward) { run_ranks_well(bucket_order, 2); }

/// Rank 1 computes its branches in another order than rank 0.
const RankFunction orders_differ("ddp_orders_differ", [] {
  in_group([](int rank, int) {
    TwoBranches net;
    net->never->requires_grad_(false);
    net->begins_with_second = rank == 1;
    DistributedDataParallel model(net, DDPOptions().bucket_cap_mb(0.0001));
    for (int step = 0; step < 3; ++step) {
      model->zero_grad();
      model(Batch(step + rank, 2).x, true, true).backward();
      REQUIRE(is_equal_on_all_ranks(flattened({net->first->weight, net->second->weight}, true)));
    }
  });
});
TEST(DistributedDataParallel, RanksAgreeOnTheOrderOfBuckets) { run_ranks_well(orders_differ, 2); }

const RankFunction views("ddp_views", [] {
  in_group([](int rank, int size) {
    nn::Sequential net = make_mlp();
    DistributedDataParallel model(net, DDPOptions().gradient_as_bucket_view(true));
    Batch batch = Batch(0, kRows).of_rank(rank, size);
    for (int step = 0; step < 3; ++step) {
      net->zero_grad();
      mse_loss(model(batch.x), batch.y).backward();
    }
    // All gradients are in one piece of memory, and stay there when they are zeroed.
    const std::vector<Tensor> parameters = net->parameters();
    for (const Tensor& p : parameters) REQUIRE(p.grad().is_alias_of(parameters[0].grad()));
    const void* const memory = parameters[0].grad().data_ptr();
    net->zero_grad(/*set_to_none=*/false);
    mse_loss(model(batch.x), batch.y).backward();
    REQUIRE(parameters[0].grad().data_ptr() == memory);
  });
});
TEST(DistributedDataParallel, GradientsAreViewsOfBuckets) { run_ranks_well(views, 2); }

const RankFunction buffers("ddp_buffers", [] {
  in_group([](int rank, int) {
    nn::Sequential net(nn::BatchNorm1d(6), nn::Linear(6, 3));
    net->to(kDouble);
    const Tensor mean = net->named_buffers()["0.running_mean"];
    const auto train = [&](bool broadcast) {
      DistributedDataParallel model(net, DDPOptions().broadcast_buffers(broadcast));
      REQUIRE(is_equal_on_all_ranks(mean));  // rank 0's buffers are taken at the start
      for (int64_t step = 0; step < 2; ++step) model(Batch(step + 10 * rank, 8).x).sum().backward();
      REQUIRE(!is_equal_on_all_ranks(mean));  // each rank has counted its last batch
      model(Batch(rank, 8).x).sum().backward();
      return is_equal_on_all_ranks(net->named_buffers()["0.num_batches_tracked"]);
    };
    REQUIRE(train(true));
    train(false);
    // With the buffers of rank 0 and the same batch, all ranks get the same statistics.
    DistributedDataParallel model(net);
    model(Batch(rank, 8).x).sum().backward();
    model(Batch(0, 8).x).sum().backward();
    REQUIRE(is_equal_on_all_ranks(mean));
  });
});
TEST(DistributedDataParallel, BroadcastsBuffers) { run_ranks_well(buffers, 2); }

const RankFunction is_a_module("ddp_is_a_module", [] {
  in_group([](int, int) {
    DistributedDataParallel model(nn::Sequential(nn::Linear(2, 2), nn::ReLU()));
    REQUIRE(model->state_dict().keys()[0] == "module.0.weight");
    std::ostringstream text;
    text << *model;
    REQUIRE(text.str().find("DistributedDataParallel(\n  (module): ") == 0);
    model->eval();
    REQUIRE(!model->module->is_training());
    const NoGradGuard no_grad;
    REQUIRE(model(ones({1, 2})).size(1) == 2);
  });
});
TEST(DistributedDataParallel, IsAModule) { run_ranks_well(is_a_module, 1); }

}  // namespace
}  // namespace hearth::testing
