#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

// Times how long a cache line takes from one core to another: two threads answer each other through
// one variable. A virtual machine may move between cores that share a cache (26 ns on an AMD EPYC)
// and cores that do not (177 ns); calls whose threads read each other's results then take up to 2.5
// times as long (sort). compare.py prints the times beside its table. Prints "core_distance best
// median" in nanoseconds; nothing if the process may use one core only.

namespace {

constexpr int kRounds = 20'000;
constexpr int kSpins = 10'000;  // then the other thread may be waiting for this core

/// Waits until the variable has this value.
void await(const std::atomic<int>& variable, int value) {
  for (int spins = 0; variable.load(std::memory_order_acquire) != value; ++spins)
    if (spins >= kSpins) std::this_thread::yield();
}

/// The cores that this process may use.
std::vector<int> usable_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

/// Keeps the calling thread on a core.
void stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Nanoseconds that the variable takes from a thread on this core to one on the other core.
double one_way(int other_core) {
  alignas(64) std::atomic<int> variable{0};
  std::thread other([&] {
    stay_on(other_core);
    for (int i = 1; i <= kRounds; ++i) {
      await(variable, 2 * i - 1);
      variable.store(2 * i, std::memory_order_release);
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 1; i <= kRounds; ++i) {
    variable.store(2 * i - 1, std::memory_order_release);
    await(variable, 2 * i);
  }
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  other.join();
  return time.count() / (2 * kRounds);
}

}  // namespace

int main() {
  const std::vector<int> cores = usable_cores();
  if (cores.size() < 2) return 0;
  stay_on(cores[0]);
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) times.push_back(one_way(cores[1]));
  std::sort(times.begin(), times.end());
  std::printf("core_distance %.0f %.0f\n", times.front(), times[times.size() / 2]);
}
