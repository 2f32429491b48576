#include "signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hearth/error.h"

namespace hearth::app {

namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int kForwarded[] = {SIGUSR1, SIGUSR2};

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

SignalReader::SignalReader() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (const int signal : kEnding)
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  for (const int signal : kForwarded)
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &previous_pipe_);
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action,
            &previous_child_);  // if SIGCHLD were ignored, children would leave no status
  sigprocmask(SIG_BLOCK, &signals, &previous_mask_);
  file_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  HEARTH_CHECK(file_ >= 0, "cannot read signals: ", std::strerror(errno));
}

SignalReader::~SignalReader() {
  close(file_);
  restore();
}

std::optional<int> SignalReader::next() const {
  signalfd_siginfo info{};
  if (read(file_, &info, sizeof info) != ssize_t{sizeof info}) return {};
  return static_cast<int>(info.ssi_signo);
}

void SignalReader::restore() const {
  sigaction(SIGPIPE, &previous_pipe_, nullptr);
  sigaction(SIGCHLD, &previous_child_, nullptr);
  sigprocmask(SIG_SETMASK, &previous_mask_, nullptr);
}

bool asks_to_end(int signal) {
  for (const int ending : kEnding)
    if (signal == ending) return true;
  return false;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace hearth::app
