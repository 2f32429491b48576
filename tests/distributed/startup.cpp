#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "tests/distributed/ranks.h"
#include "tests/support/listener.h"
#include "tests/support/throws.h"

// Failures while a group is created: the waiting ranks must get an error.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using std::chrono::milliseconds;

void init_late(milliseconds delay) {
  std::this_thread::sleep_for(delay);
  const char* const method = std::getenv("TEST_INIT_METHOD");
  dist::init_process_group(
      "gloo", dist::InitOptions().timeout(milliseconds(20'000)).init_method(method ? method : ""));
}

int number_variable(const char* name) { return std::atoi(std::getenv(name)); }
int rank_variable() { return number_variable("RANK"); }

/// Rank 1 dies while it waits for rank 2, which comes later. Rank 0 keeps the store.
const RankFunction dies_at_start("dies_at_start", [] {
  const int rank = rank_variable();
  if (rank == 1)
    std::thread([] {
      std::this_thread::sleep_for(milliseconds(300));
      std::raise(SIGKILL);
    }).detach();
  auto options = dist::InitOptions().timeout(milliseconds(20'000)).rank(rank).world_size(3);
  dist::TCPStoreOptions server;
  server.isServer = rank == 0;
  server.port = static_cast<uint16_t>(number_variable("MASTER_PORT"));
  options.store(std::make_shared<dist::TCPStore>("127.0.0.1", server));
  std::this_thread::sleep_for(milliseconds(rank == 2 ? 1200 : 0));
  print_error([&] { dist::init_process_group("gloo", options); });
  std::this_thread::sleep_for(milliseconds(rank == 0 ? 1500 : 0));
});

TEST(Startup, ARankThatDiesBeforeAllHaveComeIsNamed) {
  const std::vector<RankResult> results = run_ranks(dies_at_start, 3);
  EXPECT_EQ(results[1].signal, SIGKILL);
  for (const size_t rank : {0, 2}) {
    EXPECT_PRED2(contains, results[rank].output, "rank 1 (host ");
    EXPECT_PRED2(contains, results[rank].output, "has ended without destroying");
    EXPECT_LE(seconds_in(results[rank].output), rank == 0 ? 1.4 : 0.9) << results[rank].output;
  }
}

/// Rank 1 cannot connect.
const RankFunction cannot_connect("cannot_connect", [] {
  if (rank_variable() == 1) setenv("GLOO_SOCKET_IFNAME", "nonexistent0", 1);
  print_error([] { init_late(milliseconds(0)); });
});

TEST(Startup, ARankThatCannotConnectTellsTheOthers) {
  RankOptions with_file;
  with_file.environment["TEST_INIT_METHOD"] = "file://" +
                                              std::filesystem::temp_directory_path().string() +
                                              "/hearth_startup_" + std::to_string(free_port());
  for (const RankOptions& options : {RankOptions(), with_file})
    for (const RankResult& result : run_ranks_well(cannot_connect, 3, options)) {
      EXPECT_PRED2(contains, result.output, "has no such network interface");
      EXPECT_LE(seconds_in(result.output), 2) << result.output;
    }
}

/// The third process also has rank 1. Its uncaught error ends it, and the other processes go on.
const RankFunction doubled("doubled", [] {
  const bool is_second = rank_variable() == 2;
  if (is_second) setenv("RANK", "1", 1);
  setenv("WORLD_SIZE", "2", 1);
  if (is_second)
    [] {
      try {
        init_late(milliseconds(300));
      } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        std::fflush(stdout);
        throw;
      }
    }();
  init_late(milliseconds(0));
  for (int i = 0; i < 15; ++i) {
    dist::barrier();
    std::this_thread::sleep_for(milliseconds(50));
  }
  dist::destroy_process_group();
});

TEST(Startup, ASecondProcessWithARankDoesNotHarmTheJob) {
  const std::vector<RankResult> results = run_ranks(doubled, 3);
  for (const size_t rank : {0, 1}) EXPECT_EQ(results[rank].exit_code, 0) << results[rank].output;
  EXPECT_PRED2(contains, results[2].output, "two processes have rank 1");
  EXPECT_PRED2(contains, results[2].output, "give each process its own RANK");
}

/// Rank 1 first has another value of the variable than rank 0.
void join_with_another(const char* variable, const char* first, const char* last) {
  const bool is_late = rank_variable() == 1;
  setenv(variable, is_late ? first : last, 1);
  if (is_late) print_error([] { init_late(milliseconds(0)); });
  setenv(variable, last, 1);
  init_late(milliseconds(0));
  dist::barrier();
  dist::destroy_process_group();
}

const RankFunction has_another_round("has_another_round",
                                     [] { join_with_another("HEARTH_RDZV_ROUND", "2", "3"); });

TEST(Startup, AProcessOfAnEarlierRoundIsRefused) {
  const std::vector<RankResult> results = run_ranks_well(has_another_round, 2);
  EXPECT_PRED2(
      contains, results[1].output,
      " refused this process, because it is of round 2 of the job, and the store of round 3; "
      "all processes of the earlier round must end");
  EXPECT_LE(seconds_in(results[1].output), 2) << results[1].output;
}

const RankFunction has_another_launch("has_another_launch", [] {
  join_with_another("HEARTH_LAUNCH_ID", "former", "present");
});

TEST(Startup, AProcessOfAnotherLaunchIsRefused) {
  const std::vector<RankResult> results = run_ranks_well(has_another_launch, 2);
  EXPECT_PRED2(contains, results[1].output,
               " refused this process, because it is of another launch");
  EXPECT_LE(seconds_in(results[1].output), 5) << results[1].output;
}

const RankFunction debugged("debugged", [] {
  if (rank_variable() == 1) setenv("HEARTH_DISTRIBUTED_DEBUG", "detail", 1);
  print_error([] { init_late(milliseconds(0)); });
});

TEST(Startup, RanksWithDifferentSettingsAreRefused) {
  for (const RankResult& result : run_ranks_well(debugged, 2)) {
    EXPECT_PRED2(contains, result.output, "HEARTH_DISTRIBUTED_DEBUG=detail");
    EXPECT_LE(seconds_in(result.output), 2) << result.output;
  }
}

TEST(Startup, NegativeTimeoutsAreRefused) {
  const auto options = dist::InitOptions()
                           .init_method("tcp://127.0.0.1:29599?rank=0&world_size=1")
                           .timeout(milliseconds(-5));
  EXPECT_ERROR(dist::init_process_group("gloo", options), "time-out must not be negative, got -5");
  const auto store = std::make_shared<dist::HashStore>();
  EXPECT_ERROR(dist::ProcessGroup(store, 0, 1, "gloo", milliseconds(-1000)), "got -1000 ms");
  dist::ProcessGroup group(std::make_shared<dist::HashStore>(), 0, 1);
  EXPECT_ERROR(group.setTimeout(milliseconds(-2)), "got -2 ms");
  dist::BarrierOptions barrier;
  barrier.timeout = milliseconds(-3);
  EXPECT_ERROR(group.barrier(barrier), "got -3 ms");
  group.barrier()->wait();
}

}  // namespace
}  // namespace hearth::testing
