#pragma once

#include <algorithm>
#include <chrono>

namespace hearth::distributed {

using std::chrono::milliseconds;

/// A point in time at which waiting ends, or never.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// A timeout of 0 means no deadline; one below 0 has already passed.
  static Deadline after(milliseconds timeout) {
    return timeout.count() == 0 ? never()
                                : Deadline(Clock::now() + std::clamp(timeout, -kLongest, kLongest));
  }
  static Deadline never() { return Deadline(Clock::time_point::max()); }

  bool is_never() const { return time_ == Clock::time_point::max(); }
  bool has_passed() const { return !is_never() && Clock::now() >= time_; }
  Clock::time_point time() const { return time_; }
  milliseconds left() const {
    if (is_never()) return kLongest;
    const auto left = std::chrono::ceil<milliseconds>(time_ - Clock::now());
    return std::max(left, milliseconds(0));
  }
  /// The argument of poll(): milliseconds, at most 1,000 s (then call poll() again), or -1 for
  /// never.
  int poll_timeout() const {
    return is_never() ? -1 : static_cast<int>(std::min(left(), milliseconds(1'000'000)).count());
  }

 private:
  static constexpr milliseconds kLongest{std::chrono::hours(24 * 365)};
  explicit Deadline(Clock::time_point time) : time_(time) {}

  Clock::time_point time_;
};

}  // namespace hearth::distributed
