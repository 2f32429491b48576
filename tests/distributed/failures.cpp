#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "tests/distributed/ranks.h"
#include "tests/support/throws.h"

// Ranks that are killed, stopped or late, and ranks that make different calls.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using std::chrono::milliseconds;

void init(milliseconds timeout) {
  dist::init_process_group("gloo", dist::InitOptions().timeout(timeout));
  dist::barrier();
}

/// Rank 1 dies; 0 and 2 are in collectives, and 3 receives from 2, which never sends.
const RankFunction dies("dies", [] {
  init(milliseconds(60'000));
  const int rank = dist::get_rank();
  Tensor x = ones({1000});
  if (rank == 1) {
    std::this_thread::sleep_for(milliseconds(300));
    std::raise(SIGKILL);
  }
  print_error([&] {
    if (rank == 3)
      dist::recv(x, 2);
    else
      dist::all_reduce(x);
  });
  REQUIRE_ERROR(dist::all_reduce(x), "cannot be used any more");
});

TEST(Failures, AKilledRankIsNamedByAllOthersWithinASecond) {
  const std::vector<RankResult> results = run_ranks(dies, 4);
  EXPECT_EQ(results[1].signal, SIGKILL);
  for (const size_t rank : {0, 2, 3}) {
    EXPECT_EQ(results[rank].exit_code, 0) << results[rank].output;
    EXPECT_PRED2(contains, results[rank].output, "rank 1 (host ");
    EXPECT_PRED2(contains, results[rank].output, "has ended without destroying");
    // They wait 0.3 s before the rank dies.
    EXPECT_LE(seconds_in(results[rank].output), 1.3) << results[rank].output;
    std::printf("SIGKILL: rank %zu notices it after %.3f s\n", rank,
                seconds_in(results[rank].output) - 0.3);
  }
}

const RankFunction first_dies("first_dies", [] {
  init(milliseconds(60'000));
  Tensor x = ones({1'000'000});
  if (dist::get_rank() == 0) {
    std::this_thread::sleep_for(milliseconds(200));
    std::raise(SIGKILL);
  }
  print_error([&] { dist::all_reduce(x); });
});

TEST(Failures, TheEndOfRankZeroIsNoticed) {
  const std::vector<RankResult> results = run_ranks(first_dies, 3);
  for (const size_t rank : {1, 2}) {
    EXPECT_EQ(results[rank].exit_code, 0) << results[rank].output;
    EXPECT_PRED2(contains, results[rank].output, "rank 0");
    EXPECT_LE(seconds_in(results[rank].output), 1.3) << results[rank].output;
  }
}

const RankFunction stops("stops", [] {
  init(milliseconds(3000));
  Tensor x = ones({10});
  if (dist::get_rank() == 2) std::raise(SIGSTOP);
  print_error([&] { dist::all_reduce(x); });
});

TEST(Failures, TheTimeoutErrorNamesAStoppedRank) {
  RankOptions options;
  options.endless_rank = 2;
  const std::vector<RankResult> results = run_ranks(stops, 3, options);
  EXPECT_TRUE(results[2].timed_out);
  for (const size_t rank : {0, 1}) {
    const std::string& output = results[rank].output;
    EXPECT_PRED2(contains, output, "all_reduce number 2: SUM of Float [10] in group 'default'");
    EXPECT_PRED2(contains, output, "within 3000 ms");
    EXPECT_PRED2(contains, output, "rank 2 did not answer: the process is stopped");
    EXPECT_LE(seconds_in(output), 5.5) << output;
    std::printf("SIGSTOP: rank %zu notices it after %.3f s, with a time-out of 3 s\n", rank,
                seconds_in(output));
  }
}

const RankFunction differ("differ", [] {
  init(milliseconds(3000));
  const int rank = dist::get_rank();
  Tensor x = ones({2}), y = ones({3});
  print_error([&] {
    if (rank == 0) dist::all_reduce(x);
    if (rank == 1) dist::all_reduce(y);
    if (rank == 2) dist::broadcast(x, 1);
    if (rank == 3) std::this_thread::sleep_for(milliseconds(6000));
  });
});

TEST(Failures, TheTimeoutErrorListsDifferentCalls) {
  const std::vector<RankResult> results = run_ranks(differ, 4);
  for (const size_t rank : {0, 1, 2}) {
    const std::string& output = results[rank].output;
    EXPECT_PRED2(contains, output, "rank 0 is in all_reduce number 2: SUM of Float [2]") << rank;
    EXPECT_PRED2(contains, output, "rank 1 is in all_reduce number 2: SUM of Float [3]");
    EXPECT_PRED2(contains, output, "rank 2 is in broadcast number 2 from rank 1: Float [2]");
    EXPECT_PRED2(contains, output, "rank 3 is in no call; the last one, barrier number 1");
  }
}

TEST(Failures, DifferentCallsAreComparedInDebugMode) {
  RankOptions options;
  options.environment = {{"HEARTH_DISTRIBUTED_DEBUG", "DETAIL"}};
  const std::vector<RankResult> results = run_ranks(differ, 3, options);
  for (const RankResult& result : results) {
    EXPECT_PRED2(contains, result.output, "the ranks make different calls");
    EXPECT_PRED2(contains, result.output, "rank 1 calls all_reduce number 2: SUM of Float [3]");
    EXPECT_LE(seconds_in(result.output), 0.9) << result.output;
  }
}

const RankFunction late("late", [] {
  init(milliseconds(30'000));
  print_error([&] {
    if (dist::get_rank() < 2) dist::monitored_barrier(nullptr, milliseconds(300), true);
  });
  // The group still works afterwards.
  Tensor x = ones({1});
  dist::all_reduce(x);
  REQUIRE(x.item<int>() == 4);
  dist::destroy_process_group();
});

TEST(Failures, AMonitoredBarrierNamesTheMissingRanks) {
  const std::vector<RankResult> results = run_ranks_well(late, 4);
  EXPECT_PRED2(contains, results[0].output, "[Rank 0]: Ranks 2, 3 failed to pass monitoredBarrier");
  EXPECT_PRED2(contains, results[1].output, "[Rank 1]: Ranks 2, 3 failed to pass monitoredBarrier");
}

/// Rank 1 exits with code 0, but without destroy_process_group.
const RankFunction leaves("leaves", [] {
  init(milliseconds(20'000));
  if (dist::get_rank() == 1) return;
  std::this_thread::sleep_for(milliseconds(300));
  Tensor x = ones({1});
  print_error([&] { dist::all_reduce(x); });
});

TEST(Failures, ARankThatLeftIsNamed) {
  const std::vector<RankResult> results = run_ranks_well(leaves, 3);
  for (const size_t rank : {0, 2}) {
    EXPECT_PRED2(contains, results[rank].output, "rank 1 has left the group") << rank;
    EXPECT_LE(seconds_in(results[rank].output), 2) << results[rank].output;
  }
}

/// Rank 0, which serves the store, exits without destroy_process_group.
const RankFunction first_leaves("first_leaves", [] {
  init(milliseconds(20'000));
  if (dist::get_rank() == 0) return;
  Tensor x = ones({1});
  print_error([&] { dist::all_reduce(x); });
});

TEST(Failures, RankZeroThatLeftIsNamed) {
  const std::vector<RankResult> results = run_ranks_well(first_leaves, 2);
  EXPECT_PRED2(contains, results[1].output, "rank 0 has left the group");
  EXPECT_LE(seconds_in(results[1].output), 2.5) << results[1].output;
}

const RankFunction never_come("never_come", [] {
  print_error(
      [] { dist::init_process_group("gloo", dist::InitOptions().timeout(milliseconds(2000))); });
});

TEST(Failures, RanksThatNeverComeAreNamed) {
  RankOptions options;
  options.environment = {{"WORLD_SIZE", "4"}};
  for (const RankResult& result : run_ranks_well(never_come, 2, options))
    EXPECT_PRED2(contains, result.output,
                 "have not come within 2000 ms: 2, 3; 4 ranks are expected");
}

/// One thread aborts the group while another waits.
const RankFunction aborts("aborts", [] {
  init(milliseconds(60'000));
  Tensor x = ones({1});
  std::thread other([] {
    std::this_thread::sleep_for(milliseconds(200));
    if (dist::get_rank() == 0) dist::default_group()->abort();
  });
  print_error([&] {
    if (dist::get_rank() == 0)
      dist::recv(x, 1);
    else
      dist::recv(x, 0);
  });
  other.join();
});

TEST(Failures, AbortEndsTheCallsOfAllRanks) {
  const std::vector<RankResult> results = run_ranks_well(aborts, 2);
  EXPECT_PRED2(contains, results[0].output, "abort() was called");
  for (const RankResult& result : results) EXPECT_LE(seconds_in(result.output), 1.5);
}

}  // namespace
}  // namespace hearth::testing
