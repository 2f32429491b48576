#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "tests/distributed/ranks.h"
#include "tests/support/throws.h"

// Programs that use groups wrongly or carelessly: they get errors, and neither crash nor hang.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using std::chrono::milliseconds;

void init_group() {
  dist::init_process_group("gloo", dist::InitOptions().timeout(milliseconds(20'000)));
}

/// Rank 0 sends three rows to rank 1, which expects two.
const RankFunction wrong_parts("wrong_parts", [] {
  init_group();
  const bool sends = dist::get_rank() == 0;
  std::vector<int64_t> to{1, 1}, from{1, 1};
  if (sends) to[1] = 3;
  if (!sends) from[0] = 2;
  Tensor in = ones({to[0] + to[1], 2}), out = zeros({from[0] + from[1], 2});
  print_error([&] { dist::all_to_all_single(out, in, from, to); });
});

TEST(Misuse, PartsOfDifferentSizesAreNamed) {
  for (const RankResult& result : run_ranks_well(wrong_parts, 2)) {
    EXPECT_PRED2(contains, result.output, "rank 0 sends 24 bytes to rank 1, which expects 16");
    EXPECT_LE(seconds_in(result.output), 2) << result.output;
  }
}

const RankFunction overlapping("overlapping", [] {
  init_group();
  const Tensor expanded = ones({1}).expand({3});
  const char* const error = "more than one element of the written-to tensor";
  REQUIRE_ERROR(dist::all_reduce(expanded), error);
  REQUIRE_ERROR(dist::broadcast(expanded, 0), error);
  REQUIRE_ERROR(dist::all_gather({expanded, expanded}, ones({3})), error);
  REQUIRE_ERROR(dist::irecv(expanded, 1 - dist::get_rank()), error);
  Tensor x = ones({1});
  dist::all_reduce(x);  // the group still works
  REQUIRE(x.item<int>() == 2);
  dist::destroy_process_group();
});

TEST(Misuse, OutputsWhoseElementsOverlapAreRefused) { run_ranks_well(overlapping, 2); }

/// Rank 1 dies before a monitored barrier.
const RankFunction dies_before_barrier("dies_before_barrier", [] {
  init_group();
  if (dist::get_rank() == 1) {
    std::this_thread::sleep_for(milliseconds(300));
    std::raise(SIGKILL);
  }
  print_error([] { dist::monitored_barrier(); });
});

TEST(Misuse, AMonitoredBarrierNoticesAKilledRank) {
  const std::vector<RankResult> results = run_ranks(dies_before_barrier, 3);
  for (const size_t rank : {0, 2}) {
    EXPECT_PRED2(contains, results[rank].output, "rank 1 (host ") << rank;
    EXPECT_LE(seconds_in(results[rank].output), 1.4) << results[rank].output;
  }
}

const RankFunction throwing_hook("throwing_hook", [] {
  init_group();
  Tensor x = ones({1});
  const auto work = dist::all_reduce(x, dist::ReduceOp::SUM, nullptr, true);
  const auto hook = [](dist::Work&) { throw std::runtime_error("from a hook"); };
  work->on_completion(hook);
  work->wait();
  work->on_completion(hook);  // of work that has ended
  dist::all_reduce(x);
  REQUIRE(x.item<int>() == 4);
  dist::destroy_process_group();
});

TEST(Misuse, AHookThatThrowsDoesNotEndTheProcess) { run_ranks_well(throwing_hook, 2); }

/// Groups that one rank destroys while its receive waits. The other rank keeps its connection open
/// until the barrier, because a closed connection would end the receive, too.
const RankFunction unfinished("unfinished", [] {
  init_group();
  for (int i = 0; i < 10; ++i) {
    dist::ProcessGroupPtr group = dist::new_group();
    const int rank = dist::get_rank();
    if (rank == i % 2) {
      Tensor x = zeros({4});
      const auto work = dist::irecv(x, 1 - rank, group);
      dist::destroy_process_group(group);
      group.reset();
      REQUIRE_ERROR(work->wait(), "the group was destroyed before the call ended");
    }
    dist::barrier();
    if (group) dist::destroy_process_group(group);
  }
  dist::destroy_process_group();
});

TEST(Misuse, AGroupThatIsDestroyedEndsItsTransfers) { run_ranks_well(unfinished, 2); }

/// A thread uses the default group while another destroys it.
const RankFunction racing("racing", [] {
  init_group();
  std::thread other([] {
    Tensor x = ones({1});
    error_of([&] {
      while (true) dist::all_reduce(x);
    });
  });
  std::this_thread::sleep_for(milliseconds(100));
  dist::destroy_process_group();
  other.join();
});

TEST(Misuse, AGroupMayBeDestroyedWhileAThreadUsesIt) { run_ranks_well(racing, 2); }

const RankFunction small_transfers("small_transfers", [] {
  init_group();
  Tensor nothing = zeros({0, 3});
  if (dist::get_rank() == 0)
    dist::send(nothing, 1);
  else
    REQUIRE(dist::recv(nothing) == 0);
  const dist::ProcessGroupPtr first = dist::new_group({0});
  if (dist::get_rank() == 0) {
    Tensor x = ones({2});
    REQUIRE_ERROR(dist::recv(x, -1, first), "has no other rank");
    dist::all_reduce(x, dist::ReduceOp::SUM, first);
  }
  dist::destroy_process_group();
});

TEST(Misuse, EmptyTensorsAreSentAndAGroupOfOneCannotReceive) { run_ranks_well(small_transfers, 2); }

}  // namespace
}  // namespace hearth::testing
