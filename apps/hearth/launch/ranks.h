#pragma once

#include <functional>

#include "console.h"
#include "failure.h"

namespace hearth::app {

/// Callbacks for the ranks' output and failures.
struct RankEvents {
  std::function<void(const RankLine&)> line;
  std::function<void(const Failure&)> failure;
  std::function<void(const std::string&)> note = {};  // a line about a machine, with newline
};

/// The ranks of one attempt to run the job, on this machine or on others.
class Ranks {
 public:
  virtual ~Ranks() = default;
  /// Sends a signal to all of them. SIGKILL must end them even if their machine does not answer.
  virtual void send(int signal) = 0;
  /// Looks for children of this process that have ended; called after SIGCHLD.
  virtual void reap() = 0;
  /// Whether all of them have ended.
  virtual bool ended() const = 0;
};

}  // namespace hearth::app
