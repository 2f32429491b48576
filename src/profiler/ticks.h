#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace hearth::profiler {

/// Whether the processor has a time-stamp counter of constant frequency.
extern const bool has_constant_tsc;

/// A cheap clock of unknown frequency: the time-stamp counter, else nanoseconds.
inline uint64_t ticks() {
#if defined(__x86_64__)
  if (has_constant_tsc) [[likely]]
    return __rdtsc();
#endif
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// A moment on both clocks: ticks() and steady_clock.
struct Moment {
  uint64_t ticks = 0;
  int64_t ns = 0;
  static Moment now();
};

/// Converts ticks to nanoseconds of steady_clock, from two moments.
class TickScale {
 public:
  TickScale(const Moment& first, const Moment& last);
  int64_t ns(uint64_t ticks) const {
    const auto since = static_cast<double>(static_cast<int64_t>(ticks - first_.ticks));
    return first_.ns + static_cast<int64_t>(since * ns_per_tick_ + 0.5);
  }

 private:
  Moment first_;
  double ns_per_tick_ = 1;
};

}  // namespace hearth::profiler
