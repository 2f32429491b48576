#pragma once

#include <sched.h>
#include <unistd.h>

namespace hearth {

/// The core on which a sleeping thread will wake. The kernel prefers the thread's last core, even
/// if the waking thread runs there and others are idle; then both share it, often for milliseconds.
/// The caller's mutex guards the members.
class WakingCore {
 public:
  /// Called by the thread before it sleeps.
  void remember() {
    thread_ = gettid();
    last_core_ = sched_getcpu();
  }

  /// Called by the waking thread: forbids its own core to the sleeping thread, unless that may
  /// use no other.
  void avoid_this_core() {
    const int core = sched_getcpu();
    if (core < 0 || core != last_core_) return;
    if (sched_getaffinity(thread_, sizeof(allowed_), &allowed_) != 0) return;
    cpu_set_t others = allowed_;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(thread_, sizeof(others), &others) != 0) return;
    last_core_ = -1;  // so that a second call does not replace allowed_
    is_restricted_ = true;
  }

  /// Called by the thread after it has woken.
  void allow_all() {
    if (!is_restricted_) return;
    sched_setaffinity(0, sizeof(allowed_), &allowed_);
    is_restricted_ = false;
  }

 private:
  pid_t thread_ = 0;
  int last_core_ = -1;
  cpu_set_t allowed_{};
  bool is_restricted_ = false;
};

}  // namespace hearth
