#include "core/parallel_for.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hearth/error.h"

namespace hearth {
namespace {

class ParallelFor : public testing::Test {
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

TEST_F(ParallelFor, StaysSerialUpToTheGrain) {
  int calls = 0;
  parallel_for(0, 100, 100, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
  });
  EXPECT_EQ(calls, 1);
}

TEST_F(ParallelFor, NoChunkIsMuchSmallerThanTheGrain) {
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
  EXPECT_EQ(inner_calls, 4);
  EXPECT_EQ(get_num_threads(), 4);
}

TEST_F(ParallelFor, RethrowsTheFirstExceptionAfterTheJoin) {
  std::atomic<int> finished{0};
  const auto loop = [&] {
    parallel_for(0, 4, 1, [&](int64_t begin, int64_t) {
      ++finished;
      if (begin >= 2) throw std::runtime_error("two");
    });
  };
  EXPECT_THROW(loop(), std::runtime_error);
  EXPECT_EQ(finished, 4);
}

TEST_F(ParallelFor, BlocksDoNotDependOnTheThreads) {
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    std::vector<std::atomic<int>> visits(10);
    parallel_blocks(10, [&](int64_t i) { ++visits[static_cast<size_t>(i)]; });
    for (const auto& visit : visits) EXPECT_EQ(visit, 1);
  }
}

TEST_F(ParallelFor, SerialScopeHoldsForItsThreadOnly) {
  const SerialScope serial;
  EXPECT_EQ(get_num_threads(), 1);
  std::thread([] { EXPECT_EQ(get_num_threads(), 4); }).join();
}

TEST_F(ParallelFor, RefusesCountsThatAreNotPositive) {
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

TEST_F(ParallelFor, LibraryGuardRestoresTheCallersSetting) {
  set_num_threads(3);
  { const LibraryThreadsGuard guard; }
  EXPECT_EQ(get_num_threads(), 3);
}

TEST_F(ParallelFor, AForkedChildComputesAlone) {
  parallel_for(0, 100, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    int calls = 0;
    parallel_for(0, 100, 1, [&](int64_t, int64_t) { ++calls; });
    _exit(calls == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hearth
