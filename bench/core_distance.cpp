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
// median" in nanoseconds; nothing if the machine has one core.

namespace {

constexpr int kRounds = 20'000;
constexpr int kSpins = 10'000;  // then the other thread may be waiting for this core

/// Waits until the variable has this value.
void await(const std::atomic<int>& variable, int value) {
  for (int spins = 0; variable.load(std::memory_order_acquire) != value; ++spins)
    if (spins >= kSpins) std::this_thread::yield();
}

/// Nanoseconds that the variable takes from one thread to the other.
double one_way() {
  alignas(64) std::atomic<int> variable{0};
  std::thread other([&] {
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
  if (std::thread::hardware_concurrency() < 2) return 0;
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) times.push_back(one_way());
  std::sort(times.begin(), times.end());
  std::printf("core_distance %.0f %.0f\n", times.front(), times[times.size() / 2]);
}
