#include "hearth/profiler.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "hearth/hearth.h"

// Overhead of a running profile: nanoseconds per call without and with it, their difference, and
// the difference in percent. The rounds alternate, so that both see the same state of the machine,
// and the time is that of the thread, without that of other programs on its core.

namespace {

using hearth::Tensor;

constexpr int kRounds = 60;
constexpr int kCalls = 4000;

/// The nanoseconds that this thread has run.
double thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

template <class F>
double time_round(const F& call) {
  const double start = thread_time();
  for (int i = 0; i < kCalls; ++i) call();
  return (thread_time() - start) / kCalls;
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
  std::printf("%-16s %9.1f %9.1f %7.1f %6.1f %%\n", name, without, with, with - without,
              100 * (with / without - 1));
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
