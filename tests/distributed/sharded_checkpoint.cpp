#include <gtest/gtest.h>

#include "hearth/distributed/checkpoint.h"
#include "hearth/distributed/zero.h"
#include "hearth/io/safetensors.h"
#include "tests/distributed/ranks.h"
#include "tests/distributed/sharded_nets.h"
#include "tests/support/files.h"

// Checkpoints of sharded modules: loading with another number of ranks, refused models, and missing
// or damaged files.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
namespace checkpoint = hearth::distributed::checkpoint;

std::string folder_of_test() { return setting("FOLDER"); }
bool has_setting(const char* name) { return setting(name) != nullptr; }

/// A net with a buffer, divided among the ranks if `is_sharded` is true, and its optimizer.
struct Training {
  explicit Training(bool is_sharded) : net(make_net()) {
    net->register_buffer("steps", zeros({}, kLong));
    if (is_sharded) parts = {dist::fully_shard(net->block1), dist::fully_shard(net)};
    adam = std::make_unique<optim::Adam>(net->parameters(), optim::AdamOptions(0.05));
  }
  void train(const Tensor& batch, int steps) {
    for (int i = 0; i < steps; ++i) {
      net->zero_grad();
      net(batch).square().mean().backward();
      adam->step();
      net->named_buffers()["steps"].add_(1);
    }
  }
  double difference_to(Training& other) {
    for (auto& part : parts) part.unshard();
    const double result = difference(net->parameters(), other.net->parameters());
    for (auto& part : parts) part.reshard();
    return result;
  }

  ShardedNet net;
  std::vector<dist::FSDPModule> parts;
  std::unique_ptr<optim::Adam> adam;
};

/// Saves a checkpoint if the setting SAVES exists, and loads one otherwise. With the setting FULL,
/// the saved parameters are whole, in one file. With WHOLE_NET, the net is not divided.
const RankFunction saves_and_loads("saves_and_loads", [] {
  in_group([](int rank, int) {
    Training alone(false), sharded(!has_setting("WHOLE_NET"));
    const auto options = checkpoint::Options().full_state_dict(has_setting("FULL"));
    if (has_setting("SAVES")) {
      // The second checkpoint replaces the first.
      sharded.train(part_of_batch(whole_batch()), 1);
      checkpoint::save(*sharded.net, *sharded.adam, folder_of_test(), options);
      sharded.train(part_of_batch(whole_batch()), 2);
      checkpoint::save(*sharded.net, *sharded.adam, folder_of_test(), options);
      return;
    }
    sharded.adam->param_groups()[0].options().set_lr(100);
    checkpoint::load(*sharded.net, *sharded.adam, folder_of_test());
    REQUIRE(sharded.net->named_buffers()["steps"].item<int>() == 3);
    sharded.train(part_of_batch(whole_batch()), has_setting("WHOLE_NET") ? 0 : 2);
    alone.train(whole_batch(), has_setting("WHOLE_NET") ? 3 : 5);
    const double error = sharded.difference_to(alone);
    std::printf("largest difference %g\n", error);
    REQUIRE(error < 1e-12);
    // Rank 0 gets all whole parameters, the other ranks get none.
    const auto state = checkpoint::get_model_state_dict(*sharded.net);
    REQUIRE(state.size() == (rank == 0 ? alone.net->state_dict().size() : 0));
    if (rank == 0) alone.net->load_state_dict(state);
    if (rank == 0) REQUIRE(alone.net->block1->up->weight.size(0) == 11);
  });
});

TEST(ShardedCheckpoint, LoadsWithAnotherNumberOfRanks) {
  for (const bool full : {false, true}) {
    const TempFolder folder;
    RankOptions options;
    options.environment["FOLDER"] = folder.path("checkpoint");
    if (full) options.environment["FULL"] = "1";
    RankOptions saving = options;
    saving.environment["SAVES"] = "1";
    run_ranks_well(saves_and_loads, 3, saving);
    const auto begin = std::filesystem::directory_iterator(folder.path("checkpoint"));
    // The index, and one file or a file of each rank.
    EXPECT_EQ(std::distance(begin, std::filesystem::directory_iterator()), full ? 2 : 4);
    for (const int size : {2, 4}) run_ranks_well(saves_and_loads, size, options);
    options.environment["WHOLE_NET"] = "1";
    run_ranks_well(saves_and_loads, 1, options);
  }
}

/// The file of rank 1.
std::string second_file(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().string().find("-00001-of-") != std::string::npos) return entry.path().string();
  throw std::runtime_error("no second file");
}

const RankFunction refuses("refuses", [] {
  in_group([](int rank, int) {
    const std::string folder = folder_of_test();
    const auto on_rank_0 = [rank](const auto& f) {
      if (rank == 0) f();
      dist::barrier();
    };
    Training one(true), before(true);
    one.train(part_of_batch(whole_batch()), 2);
    checkpoint::save(*one.net, *one.adam, folder);
    const auto fails = [&](Training& training, const char* text) {
      REQUIRE_ERROR(checkpoint::load(*training.net, *training.adam, folder), text);
    };
    Training fresh(true);

    // Another model, and optimizers that do not fit.
    nn::Linear linear(5, 7);
    REQUIRE_ERROR(checkpoint::load(*linear, folder), "has no 'model.weight'; found 'model.scale'");
    Training larger(true);
    larger.net->register_parameter("more", zeros({2}, kDouble));
    REQUIRE_ERROR(checkpoint::load(*larger.net, folder), "has no 'model.more'");
    checkpoint::load(*larger.net, folder, checkpoint::Options().strict(false));
    ShardedNet wider = make_net();
    wider->first->bias.set_data(zeros({8}, kDouble));
    wider->register_buffer("steps", zeros({}, kLong));
    dist::fully_shard(wider);
    REQUIRE_ERROR(checkpoint::load(*wider, folder),
                  "rank 0: 'model.first.bias' has the sizes [7] in the checkpoint");
    optim::SGD sgd(fresh.net->parameters(), 0.1);
    REQUIRE_ERROR(checkpoint::load(*fresh.net, sgd, folder), "is from the optimizer Adam");
    dist::ZeroRedundancyOptimizer zero(linear->parameters(), [](const auto& groups) {
      return std::make_unique<optim::Adam>(groups, optim::AdamOptions(0.1));
    });
    REQUIRE_ERROR(checkpoint::save(*linear, zero, folder + "/zero"), "consolidate_state_dict()");
    nn::Linear more(5, 7);
    if (rank == 1) more->register_buffer("extra", zeros({2}));
    REQUIRE_ERROR(checkpoint::save(*more, folder + "/more"),
                  "checkpoint::save: the ranks save different tensors. Number 2 of rank 1 is "
                  "'model.extra' [2], but that of rank 0 is nothing. All ranks must save the same "
                  "module and optimizer");
    // A failure to save on one rank is an error on all ranks.
    std::vector<Tensor> optimized = linear->parameters();
    if (rank == 1) optimized.push_back(zeros({3}).requires_grad_());
    optim::SGD odd(optimized, 0.1);
    REQUIRE_ERROR(checkpoint::save(*linear, odd, folder + "/odd"),
                  "rank 1: the optimizer has a parameter of the sizes [3]");

    // Damaged and missing files.
    const std::string file = second_file(folder), whole = bytes_of(file);
    dist::barrier();
    const auto with_file = [&](const std::string& content, const char* text) {
      on_rank_0([&] { write_bytes(file, content); });
      fails(fresh, text);
      dist::barrier();
    };
    std::string damaged = whole;
    damaged[damaged.size() - 3] ^= 1;
    with_file(damaged, "its rows or its checksum differ from the index; the file is damaged");
    with_file(whole.substr(0, whole.size() / 2), "while loading 'model.");
    on_rank_0([&] { std::filesystem::remove(file); });
    fails(fresh, "rank 1: ");
    fails(fresh, "-00001-of-00002.safetensors");
    dist::barrier();
    on_rank_0([&] { write_bytes(file, whole); });
    const std::string index = folder + "/index.safetensors", good = bytes_of(index);
    dist::barrier();
    on_rank_0([&] { write_bytes(index, whole); });
    fails(fresh, "it is not the index of a checkpoint");
    dist::barrier();
    std::string renamed = good;
    renamed[renamed.find("exp_avg") + 4] = 'b';
    on_rank_0([&] { write_bytes(index, renamed); });
    fails(fresh, "its checksum differs");
    dist::barrier();
    on_rank_0([&] { write_bytes(index, good); });
    REQUIRE_ERROR(checkpoint::load(*fresh.net, folder + "/nothing"), "index.safetensors");
    REQUIRE_ERROR(checkpoint::save(*fresh.net, file), "cannot create the folder");
    // No failed load has changed the model.
    REQUIRE(difference(fresh.net->parameters(), before.net->parameters()) == 0);
    REQUIRE(fresh.adam->state().empty());
    checkpoint::load(*fresh.net, *fresh.adam, folder);
    REQUIRE(difference(fresh.net->parameters(), one.net->parameters()) == 0);
  });
});

TEST(ShardedCheckpoint, RefusesOtherModelsAndDamagedFiles) {
  const TempFolder folder;
  RankOptions options;
  options.environment["FOLDER"] = folder.path("checkpoint");
  run_ranks_well(refuses, 2, options);
}

const RankFunction survives_any_index("survives_any_index", [] {
  in_group([](int, int) {
    const std::string folder = folder_of_test(), index = folder + "/index.safetensors";
    Training training(true), fresh(true);
    training.train(whole_batch(), 1);
    checkpoint::save(*training.net, *training.adam, folder);
    const std::string good = bytes_of(index);
    int refused = 0;
    for (size_t i = 0; i < 150; ++i) {
      std::string bad = good;
      bad[(i * 7919) % bad.size()] = static_cast<char>(i * 31 + 5);
      if (i % 10 == 0) bad.resize(bad.size() * (i + 1) / 151);
      write_bytes(index, bad);
      try {
        checkpoint::load(*fresh.net, *fresh.adam, folder);
      } catch (const Error&) {
        ++refused;
      }
    }
    std::printf("refused %d of 150\n", refused);
    REQUIRE(refused > 140);  // a change may write the byte that was there
  });
});

TEST(ShardedCheckpoint, SurvivesDamagedIndexFiles) {
  const TempFolder folder;
  RankOptions options;
  options.environment["FOLDER"] = folder.path("checkpoint");
  const auto results = run_ranks_well(survives_any_index, 1, options);
}

}  // namespace
}  // namespace hearth::testing
