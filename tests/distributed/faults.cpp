#include <gtest/gtest.h>

#include "hearth/distributed/checkpoint.h"
#include "hearth/distributed/zero.h"
#include "hearth/nn/distributed_data_parallel.h"
#include "tests/distributed/ranks.h"
#include "tests/distributed/sharded_nets.h"
#include "tests/support/small_disk.h"

// A failure on one rank is an error on all ranks, at once: full disks, set-up and saves that throw.
// Also: join() refuses a ZeroRedundancyOptimizer.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
namespace checkpoint = hearth::distributed::checkpoint;
using nn::parallel::DistributedDataParallel;

/// Rank 1 fills the disk before the second checkpoint.
const RankFunction full_disk("full_disk", [] {
  in_group([](int rank, int) {
    const std::string folder = std::string(setting("DISK")) + "/checkpoint";
    const std::string filler = std::string(setting("DISK")) + "/filler";
    ShardedNet net = make_net();
    dist::fully_shard(net);
    optim::Adam adam(net->parameters(), 0.1);
    const auto train = [&] {
      net->zero_grad();
      net(part_of_batch(whole_batch())).sum().backward();
      adam.step();
    };
    train();
    checkpoint::save(*net, adam, folder);
    std::vector<Tensor> saved;
    for (const Tensor& param : net->parameters()) saved.push_back(param.detach().clone());
    train();
    if (rank == 1) SmallDisk::fill(filler);
    dist::barrier();
    const size_t files = static_cast<size_t>(std::distance(
        std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
    dist::barrier();
    print_error([&] { checkpoint::save(*net, adam, folder); });
    dist::barrier();
    // Nothing of the new checkpoint is left.
    REQUIRE(size_t(std::distance(std::filesystem::directory_iterator(folder),
                                 std::filesystem::directory_iterator())) == files);
    dist::barrier();
    if (rank == 1) std::filesystem::remove(filler);
    dist::barrier();
    checkpoint::load(*net, adam, folder);
    REQUIRE(difference(net->parameters(), saved) == 0);
    train();
    checkpoint::save(*net, adam, folder);
  });
});

TEST(Faults, ACheckpointSurvivesAFullDisk) {
  const SmallDisk disk("512k");
  if (!disk.problem().empty()) GTEST_SKIP() << disk.problem();
  RankOptions options;
  options.environment = {{"DISK", disk.path("")}};
  for (const RankResult& result : run_ranks_well(full_disk, 3, options)) {
    EXPECT_PRED2(contains, result.output, "rank 0: ");
    EXPECT_PRED2(contains, result.output, "No space left on device");
    EXPECT_LT(seconds_in(result.output), 2) << result.output;
    std::printf("a full disk: noticed after %.3f s\n", seconds_in(result.output));
  }
}

const RankFunction setup_throws("setup_throws", [] {
  in_group([](int rank, int size) {
    const bool is_faulty = rank == 1;
    // DistributedDataParallel with options that one rank cannot fulfil.
    const auto wrap = [](double bucket) {
      DistributedDataParallel model(
          nn::Linear(2, 2), nn::parallel::DistributedDataParallelOptions().bucket_cap_mb(bucket));
    };
    const std::string cause = "bucket_cap_mb must be positive, but got -1";
    print_error([&] { wrap(is_faulty ? -1 : 1); });
    REQUIRE_ERROR(wrap(is_faulty ? -1 : 1),
                  is_faulty ? cause : "DistributedDataParallel failed on rank 1: " + cause);

    // fully_shard of a module that one rank has divided before, or whose dtypes differ there.
    nn::Linear divided(2, 3), mixed(2, 3);
    const auto lonely = dist::new_subgroups(1).first;
    if (is_faulty) dist::fully_shard(*divided, dist::FullyShardOptions().process_group(lonely));
    REQUIRE_ERROR(
        dist::fully_shard(*divided),
        is_faulty ? "already been applied" : "fully_shard failed on rank 1: fully_shard has");
    if (is_faulty) mixed->bias.set_data(mixed->bias.detach().to(kDouble));
    REQUIRE_ERROR(dist::fully_shard(*mixed),
                  is_faulty
                      ? "'weight' is Float on cpu and 'bias' is Double on cpu"
                      : "fully_shard failed on rank 1: fully_shard: the parameters of one module");

    // ZeroRedundancyOptimizer, whose function throws on one rank.
    nn::Linear net(2, 3);
    const auto make = [is_faulty](const auto& groups) -> std::unique_ptr<optim::Optimizer> {
      HEARTH_CHECK(!is_faulty, "no memory is left");
      return std::make_unique<optim::SGD>(groups, optim::SGDOptions(0.1));
    };
    const std::string zero_cause = "no memory is left";
    REQUIRE_ERROR(
        dist::ZeroRedundancyOptimizer(net->parameters(), make),
        is_faulty ? zero_cause : "ZeroRedundancyOptimizer failed on rank 1: " + zero_cause);
    dist::ZeroRedundancyOptimizer zero({net->weight}, [](const auto& groups) {
      return std::make_unique<optim::SGD>(groups, optim::SGDOptions(0.1));
    });
    const auto add = [&](bool undefined) {
      zero.add_param_group(
          optim::OptimizerParamGroup(std::vector<Tensor>{undefined ? Tensor() : net->bias}));
    };
    const std::string undefined = "optimizer can only optimize Tensors, but one of the params is";
    REQUIRE_ERROR(add(is_faulty),
                  is_faulty ? undefined : "ZeroRedundancyOptimizer failed on rank 1: " + undefined);
    REQUIRE(zero.param_groups().size() == 1);
    add(false);
    REQUIRE(zero.param_groups().size() == 2);

    // The group can still be used.
    Tensor sum = ones({1});
    dist::all_reduce(sum);
    REQUIRE(sum.item<int>() == size);
  });
});

TEST(Faults, SetupThatThrowsOnOneRankThrowsOnAll) {
  for (const RankResult& result : run_ranks_well(setup_throws, 3))
    EXPECT_LT(seconds_in(result.output), 1) << result.output;
}

const RankFunction saves_throw("saves_throw", [] {
  in_group([](int rank, int) {
    const TempFolder folder;
    // Ranks 1 and 2 have divided the module among themselves.
    nn::Linear net(2, 3);
    const auto pairs = dist::new_subgroups_by_enumeration({{0}, {1, 2}}).first;
    if (rank > 0) dist::fully_shard(*net, dist::FullyShardOptions().process_group(pairs));
    const auto options = checkpoint::Options().full_state_dict(true);
    print_error([&] { checkpoint::save(*net, folder.path("full"), options); });
    print_error([&] { dist::checkpoint::get_model_state_dict(*net); });
    Tensor sum = ones({1});
    dist::all_reduce(sum);
    REQUIRE(sum.item<int>() == 3);
  });
});

TEST(Faults, ASaveThatThrowsOnSomeRanksThrowsOnAll) {
  for (const RankResult& result : run_ranks_well(saves_throw, 3)) {
    EXPECT_PRED2(contains, result.output, "is not divided among the 3 ranks of this group");
    EXPECT_LT(seconds_in(result.output), 1) << result.output;
  }
}

const RankFunction joins_with_zero("joins_with_zero", [] {
  in_group([](int rank, int) {
    nn::Linear net(2, 2);
    DistributedDataParallel model(net);
    int calls = 0;
    const auto train = [&] { calls += rank; };
    {
      dist::ZeroRedundancyOptimizer zero(net->parameters(), [](const auto& groups) {
        return std::make_unique<optim::SGD>(groups, optim::SGDOptions(0.1));
      });
      print_error([&] { model->join(train); });
      REQUIRE(calls == 0);
      model->join([] {}, nn::parallel::JoinOptions().enable(false));
    }
    model->join(train);
    REQUIRE(calls == rank);
  });
});

TEST(Faults, JoinRefusesAZeroRedundancyOptimizer) {
  for (const RankResult& result : run_ranks_well(joins_with_zero, 2)) {
    EXPECT_PRED2(contains, result.output, "join() cannot train with a ZeroRedundancyOptimizer");
    EXPECT_LT(seconds_in(result.output), 1) << result.output;
  }
}

}  // namespace
}  // namespace hearth::testing
