#include "process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../names.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

/// Both ends of a pipe, or only a file to read from; closes the ends that are still open.
struct Ends {
  int read = -1, write = -1;
  Ends() = default;
  ~Ends() { close_all(); }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  void open_pipe() {
    int ends[2];
    HEARTH_CHECK(pipe2(ends, O_CLOEXEC) == 0, "cannot create a pipe: ", std::strerror(errno),
                 errno == EMFILE ? "; 'ulimit -n 65536' raises the limit" : "");
    read = ends[0];
    write = ends[1];
  }
  void close_all() {
    for (int* end : {&read, &write}) {
      if (*end >= 0) close(*end);
      *end = -1;
    }
  }
};

int take(int& file) { return std::exchange(file, -1); }

void do_not_block(int file) { fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK); }

/// A null-terminated array of C strings; `strings` must outlive it.
std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// The data that the child needs between fork and exec, where it may not allocate memory.
struct Child {
  std::vector<char*> words, environment;
  const char* directory;
  int input, output, errors, report;
  pid_t parent;
};

/// Why a program did not start: the errno of chdir or of exec.
struct StartError {
  int number = 0;
  bool has_folder = false;  // chdir succeeded, or was not needed
};

/// Runs the program in the child. Never returns; if chdir or exec fails, writes the error to
/// `child.report`.
[[noreturn]] void become(const Child& child, const SignalReader& signals, const Guard& guard) {
  setpgid(0, 0);
  guard.add(getpid());
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != child.parent) _exit(1);  // the parent died before prctl
  dup2(child.input, STDIN_FILENO);
  dup2(child.output, STDOUT_FILENO);
  dup2(child.errors, STDERR_FILENO);
  signals.restore();
  const bool has_folder = *child.directory == '\0' || chdir(child.directory) == 0;
  if (has_folder) execve(child.words[0], child.words.data(), child.environment.data());
  const StartError error{errno, has_folder};
  (void)!write(child.report, &error, sizeof error);
  _exit(127);
}

/// The error of a failed start; its number is 0 if exec succeeded.
StartError start_error(Ends& report) {
  close(take(report.write));
  StartError error;
  while (read(report.read, &error, sizeof error) < 0 && errno == EINTR) {
  }
  return error;
}

}  // namespace

Process::Process(const Command& command, const SignalReader& signals, const Guard& guard)
    : guard_(guard) {
  Ends in, out, err, report;
  if (command.has_input)
    in.open_pipe();
  else
    in.read = open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (Ends* ends : {&out, &err, &report}) ends->open_pipe();
  const Child child{pointers_to(command.words),
                    pointers_to(command.environment),
                    command.directory.c_str(),
                    in.read,
                    out.write,
                    err.write,
                    report.write,
                    getpid()};
  id_ = fork();
  HEARTH_CHECK(id_ >= 0, "cannot start a process: ", std::strerror(errno));
  if (id_ == 0) become(child, signals, guard);
  setpgid(id_, id_);  // the child does the same, perhaps later
  if (const StartError error = start_error(report); error.number != 0) {
    waitpid(id_, nullptr, 0);
    guard.remove(id_);
    const std::string place =
        error.has_folder ? "" : " in the folder '" + printable(command.directory) + "'";
    HEARTH_CHECK(false, "cannot start '", printable(command.words[0]), "'", place, ": ",
                 std::strerror(error.number));
  }
  input_ = take(in.write);
  output_ = take(out.read);
  errors_ = take(err.read);
  for (const int file : {input_, output_, errors_})
    if (file >= 0) do_not_block(file);
}

Process::~Process() {
  send(SIGKILL);
  while (!status()) {
    siginfo_t info;
    waitid(P_PID, id_t(id_), &info, WEXITED | WNOWAIT);
  }
  close_input();
  close(output_);
  close(errors_);
}

void Process::close_input() {
  if (input_ >= 0) close(take(input_));
}

void Process::send(int signal) const {
  if (!status_) kill(-id_, signal);
}

std::optional<int> Process::status() {
  if (status_) return status_;
  siginfo_t info{};
  // WNOWAIT keeps the process id from being used again before the group is killed.
  if (waitid(P_PID, id_t(id_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
    return {};
  kill(-id_, SIGKILL);
  guard_.remove(id_);
  int status = 0;
  waitpid(id_, &status, 0);
  status_ = status;
  return status_;
}

}  // namespace hearth::app
