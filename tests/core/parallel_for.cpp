#include "core/parallel_for.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/blocked_signals.h"
#include "hearth/error.h"
#include "tests/support/warnings.h"

namespace hearth {
namespace {

class ParallelFor : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(4); }
  void TearDown() override { set_num_threads(former_); }
  int former_ = get_num_threads();
};

TEST_F(ParallelFor, VisitsEveryIndexOnce) {
  for (const int64_t count : {0, 1, 3, 4, 5, 1000, 1001}) {
    std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
    parallel_for(-7, count - 7, 2, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i + 7)];
    });
    for (const auto& visit : visits) EXPECT_EQ(visit, 1);
  }
}

TEST_F(ParallelFor, RunsSeriallyUpToTheGrainSize) {
  int calls = 0;
  parallel_for(0, 100, 100, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
  });
  EXPECT_EQ(calls, 1);
}

TEST_F(ParallelFor, ALoopJustAboveTheGrainSizeHasTwoChunks) {
  std::atomic<int> chunks{0};
  parallel_for(0, 101, 100, [&](int64_t, int64_t) { ++chunks; });
  EXPECT_EQ(chunks, 2);
}

TEST_F(ParallelFor, NestedLoopsRunSerially) {
  std::atomic<int> inner_calls{0};
  parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    EXPECT_EQ(get_num_threads(), 1);
    parallel_for(0, 1000, 1, [&](int64_t, int64_t) { ++inner_calls; });
  });
  // Each of the 4 outer chunks divides the inner loop in the same way.
  EXPECT_EQ(inner_calls % 4, 0);
  EXPECT_EQ(get_num_threads(), 4);
}

/// The chunks into which parallel_for splits a range, in order.
std::set<std::pair<int64_t, int64_t>> chunks_of(int64_t begin, int64_t end, int64_t grain) {
  std::set<std::pair<int64_t, int64_t>> chunks;
  std::mutex mutex;
  parallel_for(begin, end, grain, [&](int64_t b, int64_t e) {
    const std::lock_guard lock(mutex);
    chunks.insert({b, e});
  });
  return chunks;
}

TEST_F(ParallelFor, ChunksDoNotDependOnTheNumberOfThreads) {
  for (const auto& [count, grain] : std::vector<std::pair<int64_t, int64_t>>{
           {7, 1}, {1000, 1}, {1001, 100}, {100'000, 32'768}, {10'000'019, 32'768}}) {
    set_num_threads(1);
    const auto serial_chunks = chunks_of(-3, count - 3, grain);
    for (const int threads : {2, 3, 7}) {
      set_num_threads(threads);
      EXPECT_EQ(chunks_of(-3, count - 3, grain), serial_chunks) << count << " by " << grain;
    }
    parallel_for(0, 2, 1, [&, n = count, g = grain](int64_t b, int64_t) {
      if (b == 0) {
        EXPECT_EQ(chunks_of(-3, n - 3, g), serial_chunks);
      }
    });
  }
}

TEST_F(ParallelFor, ConcurrentTasksHaveDifferentSlots) {
  constexpr int64_t kTasks = 200;
  const int slots = task_slots(kTasks);
  EXPECT_EQ(slots, 4);
  std::vector<std::atomic<int>> users(static_cast<size_t>(slots));
  std::atomic<int> collisions{0}, done{0};
  parallel_tasks(kTasks, slots, [&](int64_t, int slot) {
    ASSERT_LT(slot, slots);
    if (users[static_cast<size_t>(slot)]++ > 0) ++collisions;
    std::this_thread::yield();
    --users[static_cast<size_t>(slot)];
    ++done;
  });
  EXPECT_EQ(collisions, 0);
  EXPECT_EQ(done, kTasks);
}

TEST_F(ParallelFor, CallerCompletesWithoutHelpers) {
  // A helper is busy in another loop. Unless the pool has more, this loop's caller runs all tasks.
  set_num_threads(2);
  std::atomic<int> held{0};
  std::atomic<bool> release{false};
  std::thread other([&] {
    parallel_tasks(2, 2, [&](int64_t, int) {
      ++held;
      while (!release) std::this_thread::yield();
    });
  });
  while (held < 2) std::this_thread::yield();  // the other loop's caller and the helper
  std::atomic<int> done{0};
  parallel_tasks(50, 2, [&](int64_t, int) { ++done; });
  EXPECT_EQ(done, 50);
  release = true;
  other.join();
}

TEST_F(ParallelFor, ConcurrentCallersShareThePool) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        parallel_for(0, 64, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 6 * 200 * 64);
}

TEST_F(ParallelFor, RethrowsAnException) {
  std::atomic<int> started{0};
  const auto loop = [&] {
    parallel_for(0, 4, 1, [&](int64_t begin, int64_t) {
      ++started;
      if (begin >= 2) throw std::runtime_error("two");
    });
  };
  EXPECT_THROW(loop(), std::runtime_error);
  EXPECT_GE(started, 1);
  EXPECT_LE(started, 4);
}

TEST_F(ParallelFor, EveryBlockRunsOnce) {
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    std::vector<std::atomic<int>> visits(10);
    parallel_blocks(10, [&](int64_t i) { ++visits[static_cast<size_t>(i)]; });
    for (const auto& visit : visits) EXPECT_EQ(visit, 1);
  }
}

TEST_F(ParallelFor, SerialScopeIsPerThread) {
  const SerialScope serial;
  EXPECT_EQ(get_num_threads(), 1);
  std::thread([] { EXPECT_EQ(get_num_threads(), 4); }).join();
}

TEST_F(ParallelFor, RejectsNonPositiveThreadCounts) {
  for (const int count : {0, -1}) {
    try {
      set_num_threads(count);
      FAIL() << "accepted " << count;
    } catch (const Error& error) {
      EXPECT_NE(error.msg().find("Expected positive number of threads"), std::string::npos);
    }
    EXPECT_THROW(set_num_interop_threads(count), Error);
  }
  EXPECT_EQ(get_num_threads(), 4);
}

TEST_F(ParallelFor, LimitsTheNumberOfThreads) {
  const hearth::testing::Warnings warnings;
  set_num_threads(100'000);
  EXPECT_LT(get_num_threads(), 100'000);
  EXPECT_GE(get_num_threads(), 64);
  std::atomic<int64_t> visited{0};
  parallel_for(0, 1000, 1, [&](int64_t begin, int64_t end) { visited += end - begin; });
  EXPECT_EQ(visited, 1000);
}

TEST_F(ParallelFor, LibraryThreadsGuardRestoresTheSetting) {
  set_num_threads(3);
  { const LibraryThreadsGuard guard; }
  EXPECT_EQ(get_num_threads(), 3);
}

bool is_blocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

/// How many of 64 iterations, which several threads share, run with blocked signals.
int blocked_iterations() {
  std::atomic<int> blocked{0};
  parallel_for(0, 64, 1, [&](int64_t begin, int64_t end) {
    if (is_blocked(SIGUSR1)) blocked += static_cast<int>(end - begin);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  });
  return blocked;
}

TEST_F(ParallelFor, BlocksSignalsWhereTheCallerDoes) {
  EXPECT_EQ(blocked_iterations(), 0);
  {
    const BlockedSignals outer;
    { const BlockedSignals inner; }
    EXPECT_EQ(blocked_iterations(), 64);
    EXPECT_FALSE(is_blocked(SIGSEGV));
  }
  EXPECT_EQ(blocked_iterations(), 0);
  const auto fails = [] {
    const BlockedSignals scope;
    throw std::runtime_error("failed");
  };
  EXPECT_THROW(fails(), std::runtime_error);
  EXPECT_FALSE(is_blocked(SIGUSR1));
}

TEST_F(ParallelFor, WorksInForkedChild) {
  parallel_for(0, 100, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int64_t> visited{0};
    for (int i = 0; i < 100; ++i)
      parallel_for(0, 100, 1, [&](int64_t begin, int64_t end) { visited += end - begin; });
    _exit(visited == 100 * 100 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hearth
