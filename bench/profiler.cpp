#include "hearth/profiler.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "hearth/hearth.h"

// Overhead of a running profile: nanoseconds per call without and with it, and the difference in
// percent. The rounds alternate, so that both see the same state of the machine.

namespace {

using hearth::Tensor;

constexpr int kRounds = 60;
constexpr int kCalls = 4000;

template <class F>
double time_round(const F& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - start).count() / kCalls;
}

double median(std::vector<double> rounds) {
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

template <class F>
void report(const char* name, const F& call) {
  time_round(call);
  std::vector<double> off, on;
  for (int i = 0; i < kRounds; ++i) {
    off.push_back(time_round(call));
    const hearth::profiler::profile recorded;
    on.push_back(time_round(call));
  }
  const double without = median(off), with = median(on);
  std::printf("%-16s %9.1f %9.1f %6.1f %%\n", name, without, with, 100 * (with / without - 1));
}

}  // namespace

int main() {
  hearth::set_num_threads(1);
  const Tensor a = hearth::rand({4}), b = hearth::rand({4});
  const Tensor c = hearth::rand({8192}), d = hearth::rand({8192});
  const Tensor e = hearth::rand({4}, hearth::requires_grad());
  report("add_4", [&] { a + b; });
  report("add_8192", [&] { c + d; });  // about a microsecond
  report("add_grad", [&] { e + b; });
  report("range", [] { const hearth::profiler::record_function range("range"); });
}
