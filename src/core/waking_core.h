#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstring>

namespace hearth {

/// Keeps a sleeping thread from waking on the core of the thread that wakes it. The kernel prefers
/// the sleeping thread's last core, even if the other thread runs there and other cores are idle;
/// then both share it, often for milliseconds. The caller's mutex guards the members.
class WakingCore {
 public:
  /// Called by the thread before it sleeps.
  void remember() {
    thread_ = gettid();
    last_core_ = sched_getcpu();
  }

  /// Called by the other thread before it wakes the sleeping one: forbids its own core to the
  /// sleeping thread, unless that may use no other.
  void avoid_this_core() {
    const int core = sched_getcpu();
    if (core < 0 || core != last_core_ || is_refused_) return;
    last_core_ = -1;  // so that a second call does not replace allowed_
    is_refused_ = sched_getaffinity(thread_, sizeof(allowed_), &allowed_) != 0;
    others_ = allowed_;
    CPU_CLR(core, &others_);
    if (is_refused_ || CPU_COUNT(&others_) == 0) return;
    is_refused_ = sched_setaffinity(thread_, sizeof(others_), &others_) != 0;
    is_restricted_ = !is_refused_;
  }

  /// Called by the thread after it has woken.
  void allow_all() {
    if (!is_restricted_) return;
    is_restricted_ = false;
    cpu_set_t now;
    if (sched_getaffinity(0, sizeof(now), &now) != 0 || !CPU_EQUAL(&now, &others_))
      return;  // changed by another process
    // Allowing every core, instead of those of this moment, lets the thread follow changes of the
    // container's cores. If that gives it more cores than it had, it had been restricted before.
    std::memset(&now, 0xff, sizeof(now));
    sched_setaffinity(0, sizeof(now), &now);
    if (sched_getaffinity(0, sizeof(now), &now) == 0 && !CPU_EQUAL(&now, &allowed_))
      sched_setaffinity(0, sizeof(allowed_), &allowed_);
  }

 private:
  pid_t thread_ = 0;
  int last_core_ = -1;
  cpu_set_t allowed_{}, others_{};  // the thread's cores; the same without the waker's
  bool is_restricted_ = false;      // to others_
  bool is_refused_ = false;         // by the system, which is not asked again
};

}  // namespace hearth
