#include "profiler/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hearth::profiler {

namespace {

bool find_constant_tsc() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007, kInvariantTsc = 1u << 8;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) && (d & kInvariantTsc);
#else
  return false;
#endif
}

}  // namespace

const bool has_constant_tsc = find_constant_tsc();

/// Reads both clocks several times and keeps the pair with the smallest gap: an interrupt between
/// the readings spoils a pair.
Moment Moment::now() {
  constexpr int kTries = 5;
  Moment best;
  uint64_t best_gap = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = profiler::ticks();
    const int64_t ns = std::chrono::steady_clock::now().time_since_epoch().count();
    const uint64_t gap = profiler::ticks() - before;
    if (gap >= best_gap) continue;
    best_gap = gap;
    best = {before + gap / 2, ns};
  }
  return best;
}

TickScale::TickScale(const Moment& first, const Moment& last) : first_(first) {
  if (last.ticks > first.ticks)
    ns_per_tick_ =
        static_cast<double>(last.ns - first.ns) / static_cast<double>(last.ticks - first.ticks);
}

}  // namespace hearth::profiler
