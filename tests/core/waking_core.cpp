#include "core/waking_core.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/parallel_for.h"

namespace hearth {
namespace {

cpu_set_t cores_of(pid_t thread) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(thread, sizeof(cores), &cores), 0);
  return cores;
}

void use_only(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  ASSERT_EQ(sched_setaffinity(0, sizeof(cores), &cores), 0);
}

/// A thread that goes to sleep on a core of the test's choice.
class Sleeper {
 public:
  Sleeper(int core, const cpu_set_t& allowed) : thread_([=, this] { run(core, allowed); }) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return sleeps_; });
  }
  ~Sleeper() { thread_.join(); }

  /// Wakes the thread; returns the cores on which it was allowed to wake.
  cpu_set_t wake() {
    const std::lock_guard lock(mutex_);
    core_.avoid_this_core();
    const cpu_set_t cores = cores_of(id_);
    sleeps_ = false;
    changed_.notify_all();
    return cores;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

  int core_after_waking = -1;
  cpu_set_t cores_at_the_end{};

 private:
  void run(int core, const cpu_set_t& allowed) {
    use_only(core);
    std::unique_lock lock(mutex_);
    core_.remember();
    ASSERT_EQ(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
    id_ = gettid();
    sleeps_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !sleeps_; });
    core_after_waking = sched_getcpu();
    core_.allow_all();
    cores_at_the_end = cores_of(0);
    done_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  WakingCore core_;
  bool sleeps_ = false, done_ = false;
  pid_t id_ = 0;
  std::thread thread_;
};

class WakingCoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &all_)) cores_.push_back(core);
    if (cores_.size() < 2) GTEST_SKIP() << "needs two cores";
  }
  void TearDown() override { sched_setaffinity(0, sizeof(all_), &all_); }

  const cpu_set_t all_ = cores_of(0);
  std::vector<int> cores_;
};

TEST_F(WakingCoreTest, AThreadWakesOnAnotherCoreThanTheWakingThread) {
  Sleeper sleeper(cores_[0], all_);
  use_only(cores_[0]);
  const cpu_set_t during_wake = sleeper.wake();
  sleeper.wait();
  EXPECT_FALSE(CPU_ISSET(cores_[0], &during_wake));
  EXPECT_NE(sleeper.core_after_waking, cores_[0]);
  EXPECT_TRUE(CPU_EQUAL(&sleeper.cores_at_the_end, &all_));
}

TEST_F(WakingCoreTest, AThreadOfAnotherCoreIsNotRestricted) {
  Sleeper sleeper(cores_[1], all_);
  use_only(cores_[0]);
  const cpu_set_t during_wake = sleeper.wake();
  sleeper.wait();
  EXPECT_TRUE(CPU_EQUAL(&during_wake, &all_));
}

TEST_F(WakingCoreTest, AThreadKeepsItsOnlyCore) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cores_[0], &only);
  Sleeper sleeper(cores_[0], only);
  use_only(cores_[0]);
  const cpu_set_t during_wake = sleeper.wake();
  sleeper.wait();
  EXPECT_TRUE(CPU_EQUAL(&during_wake, &only));
  EXPECT_EQ(sleeper.core_after_waking, cores_[0]);
}

/// A parallel loop, after which the helpers have time to fall asleep.
void run_loop() {
  parallel_for(0, 4, 1, [](int64_t, int64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Whether every thread of the process may use exactly these cores.
bool all_threads_may_use(const cpu_set_t& cores) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const cpu_set_t of_thread = cores_of(std::stoi(task.path().filename()));
    if (!CPU_EQUAL(&of_thread, &cores)) return false;
  }
  return true;
}

TEST_F(WakingCoreTest, HelpersOfThePoolKeepTheirCores) {
  const int former = get_num_threads();
  set_num_threads(4);
  run_loop();
  for (const int core : cores_) {  // wakes helpers from every core
    use_only(core);
    for (int i = 0; i < 3; ++i) run_loop();
  }
  set_num_threads(former);
  sched_setaffinity(0, sizeof(all_), &all_);
  // A helper that was woken last may not have run yet.
  for (int i = 0; i < 1000 && !all_threads_may_use(all_); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(all_threads_may_use(all_));
}

}  // namespace
}  // namespace hearth
