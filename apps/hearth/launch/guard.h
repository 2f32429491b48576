#pragma once

#include <sys/types.h>

namespace hearth::app {

/// A process that kills the ranks' process groups when its parent has died, even by SIGKILL.
class Guard {
 public:
  Guard();
  /// Kills the remaining groups.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// Adds or removes a process group; can be called between fork and exec.
  void add(pid_t group) const { send(group); }
  void remove(pid_t group) const { send(-group); }

 private:
  void send(pid_t message) const;
  pid_t process_ = 0;
  int pipe_ = -1;
};

}  // namespace hearth::app
