#include "guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>

#include "hearth/error.h"

namespace hearth::app {

namespace {

/// The guard's own streams must not keep the launcher's pipes open.
void drop_streams() {
  const int null = open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, stream);
  if (null > STDERR_FILENO) close(null);
}

/// Collects groups until the pipe's last writer is gone, then kills them.
[[noreturn]] void watch_over(int pipe) {
  setsid();  // signals of the terminal do not reach the guard
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_NAME, "hearth-guard");
  drop_streams();
  std::set<pid_t> groups;
  pid_t message = 0;
  while (read(pipe, &message, sizeof message) == ssize_t{sizeof message})
    if (message > 0)
      groups.insert(message);
    else
      groups.erase(-message);
  for (const pid_t group : groups) kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

Guard::Guard() {
  int ends[2];
  HEARTH_CHECK(pipe2(ends, O_CLOEXEC) == 0, "cannot create a pipe: ", std::strerror(errno));
  process_ = fork();
  HEARTH_CHECK(process_ >= 0, "cannot start a process: ", std::strerror(errno));
  if (process_ == 0) {
    close(ends[1]);
    watch_over(ends[0]);
  }
  close(ends[0]);
  pipe_ = ends[1];
}

Guard::~Guard() {
  close(pipe_);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guard::send(pid_t message) const {
  // Without a guard, the ranks still get a signal when the launcher dies.
  (void)!write(pipe_, &message, sizeof message);
}

}  // namespace hearth::app
