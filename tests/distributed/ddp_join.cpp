#include <gtest/gtest.h>

#include <csignal>

#include "tests/distributed/ddp_models.h"
#include "tests/support/throws.h"

// Uneven inputs, models that differ, and ranks that end during training.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using nn::parallel::DistributedDataParallel;
using nn::parallel::JoinOptions;

/// Steps of SGD, computed in one process. Rank r has data in the first r + 1 steps, or, if
/// `descending`, in the first size - r. In each step, gradients are summed and divided by `size` or
/// by the number of ranks with data.
Tensor uneven_steps_alone(int size, bool descending, bool divides_by_size) {
  nn::Sequential net = make_mlp();
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  for (int64_t step = 0; step < size; ++step) {
    optimizer.zero_grad();
    int active = 0;
    for (int rank = 0; rank < size; ++rank) {
      if (step > (descending ? size - 1 - rank : rank)) continue;
      const Batch part = Batch(step, 12).of_rank(rank, size);
      mse_loss(net->forward(part.x), part.y).backward();
      ++active;
    }
    for (const Tensor& p : net->parameters())
      p.mutable_grad().div_(divides_by_size ? size : active);
    optimizer.step();
  }
  return flattened(net->parameters());
}

const RankFunction join("ddp_join", [] {
  in_group([](int rank, int size) {
    const DDPOptions variants[] = {
        DDPOptions().bucket_cap_mb(0.0005), DDPOptions().gradient_as_bucket_view(true),
        DDPOptions().find_unused_parameters(true), DDPOptions().static_graph(true)};
    for (const DDPOptions& options : variants)
      for (const bool descending : {false, true})
        for (const bool divides_by_size : {true, false}) {
          nn::Sequential net = make_mlp();
          DistributedDataParallel model(net, options);
          optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
          model->join(
              [&] {
                const int last = descending ? size - 1 - rank : rank;
                for (int64_t step = 0; step <= last; ++step) {
                  const Batch part = Batch(step, 12).of_rank(rank, size);
                  optimizer.zero_grad();
                  mse_loss(model(part.x), part.y).backward();
                  optimizer.step();
                }
              },
              JoinOptions().divide_by_initial_world_size(divides_by_size));
          const Tensor parameters = flattened(net->parameters());
          REQUIRE(is_equal_on_all_ranks(parameters));
          REQUIRE(distance(parameters, uneven_steps_alone(size, descending, divides_by_size)) <
                  1e-13);
        }
  });
});
TEST(DistributedJoin, RanksMayHaveDifferentNumbersOfBatches) {
  for (const int size : {2, 3}) run_ranks_well(join, size);
}

const RankFunction join_state("ddp_join_state", [] {
  in_group([](int rank, int) {
    nn::Sequential net(nn::BatchNorm1d(6), nn::Linear(6, 3));
    net->to(kDouble);
    DistributedDataParallel model(net);
    // Rank 0 has no data at all; the buffers come from rank 1, also under no_sync().
    model->join([&] {
      for (int step = 0; rank == 1 && step < 4; ++step) {
        std::optional<decltype(model->no_sync())> local;
        if (step % 2 == 0) local.emplace(*model);
        model(Batch(step, 8).x).sum().backward();
      }
    });
    REQUIRE(net->named_buffers()["0.num_batches_tracked"].item<int>() == 4);
    REQUIRE(is_equal_on_all_ranks(net->named_buffers()["0.running_mean"]));
    int calls = 0;
    model->join([&] { ++calls; }, JoinOptions().enable(false));
    REQUIRE(calls == 1);
    REQUIRE_ERROR(model->join([&] { model->join([] {}); }), "cannot be called inside join()");
  });
});
TEST(DistributedJoin, TakesTheBuffersOfTheRankThatEndsLast) { run_ranks_well(join_state, 2); }

const RankFunction join_throws("ddp_join_throws", [] {
  in_group([](int rank, int) {
    DistributedDataParallel model(make_mlp());
    const auto train = [&] {
      for (int step = 0; step <= rank; ++step) model(Batch(step, 2).x).sum().backward();
    };
    REQUIRE_ERROR(model->join(train, JoinOptions().throw_on_early_termination(true)),
                  "Detected at least one rank that exhausted inputs. Throwing across all ranks.");
  });
});
TEST(DistributedJoin, CanThrowInsteadOfWaiting) { run_ranks_well(join_throws, 2); }

const RankFunction models_differ("ddp_models_differ", [] {
  in_group([](int rank, int) {
    const auto wrap = [](nn::Sequential net) { DistributedDataParallel model(net); };
    const bool differs = rank == 1;
    REQUIRE_ERROR(wrap(nn::Sequential(nn::Linear(2, differs ? 3 : 2))),
                  "[1]: params[0] (0.weight) with sizes [3, 2] appears not to match sizes of the "
                  "same param in process 0: [2, 2]");
    REQUIRE_ERROR(wrap(nn::Sequential(nn::Linear(nn::LinearOptions(2, 2).bias(!differs)))),
                  "DDP expects same model across all ranks, but Rank 1 has 1 params, while rank 0 "
                  "has inconsistent 2 params. Only rank 0 has 0.bias");
    nn::Sequential net(nn::Linear(2, 2));
    if (differs) net->to(kDouble);
    REQUIRE_ERROR(wrap(net),
                  "[1]: params[0] (0.weight) with dtype Double appears not to match "
                  "dtype of the same param in process 0: Float");
    nn::Sequential frozen(nn::Linear(2, 2));
    if (differs)
      for (Tensor& parameter : frozen->parameters()) parameter.requires_grad_(false);
    REQUIRE_ERROR(wrap(frozen), "with requires_grad");
    REQUIRE_ERROR(wrap(nn::Sequential(nn::ReLU())),
                  "DistributedDataParallel is not needed when a module doesn't have any parameter "
                  "that requires a gradient.");
    REQUIRE_ERROR(
        DistributedDataParallel(nn::Linear(2, 2),
                                DDPOptions().device_ids(std::vector<Device>{Device(kCUDA, 0)})),
        "DistributedDataParallel device_ids and output_device arguments only work with");
    REQUIRE_ERROR(DistributedDataParallel(nn::Linear(2, 2), DDPOptions().bucket_cap_mb(-1)),
                  "bucket_cap_mb must be positive, but got -1");
  });
});
TEST(DistributedErrors, ModelsThatDifferAreNamed) { run_ranks_well(models_differ, 3); }

TEST(DistributedErrors, AGroupIsNeeded) {
  EXPECT_ERROR(DistributedDataParallel(nn::Linear(2, 2)),
               "Default process group has not been initialized, please make sure to call "
               "init_process_group.");
}

const RankFunction dies_in_training("ddp_dies_in_training", [] {
  in_group([](int rank, int) {
    DistributedDataParallel model(make_mlp());
    std::string error;
    try {
      for (int step = 0; step < 1000; ++step) {
        if (rank == 1 && step == 3) std::raise(SIGKILL);
        model(Batch(step, 2).x).sum().backward();
      }
    } catch (const Error& e) {
      error = e.what();
    }
    REQUIRE(error.find("rank 1 (host ") != std::string::npos);
    std::_Exit(0);
  });
});
TEST(DistributedErrors, ALostRankEndsTheTrainingOfTheOthers) {
  const std::vector<RankResult> results = run_ranks(dies_in_training, 3);
  for (const size_t rank : {0, 2}) {
    EXPECT_EQ(results[rank].exit_code, 0) << results[rank].output;
    EXPECT_LE(results[rank].seconds, 10);
  }
}

}  // namespace
}  // namespace hearth::testing
