// Runs the program hearth and captures its output.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hearth::testing {

/// `status` is the exit code, or minus the signal that ended the program.
struct RunResult {
  int status;
  std::string out, err;
};

/// A running hearth. `environment` changes the inherited environment: NAME=value sets a variable,
/// NAME removes it. The program's stdin is empty. Output that goes to the file descriptors `out` or
/// `err` is not in the result of wait().
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& environment = {}, std::optional<int> out = {},
                   std::optional<int> err = {}) {
    std::vector<std::string> command_line{HEARTH_PROGRAM}, variables;
    command_line.insert(command_line.end(), arguments.begin(), arguments.end());
    for (const std::string& entry : environment)
      if (entry.find('=') != std::string::npos) variables.push_back(entry);
    for (char** entry = environ; *entry; ++entry)
      if (!is_replaced(*entry, environment)) variables.push_back(*entry);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out.value_or(fileno(out_.get())), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err.value_or(fileno(err_.get())), STDERR_FILENO);
    const int failed = posix_spawn(&process_, HEARTH_PROGRAM, &files, nullptr,
                                   pointers_to(command_line).data(), pointers_to(variables).data());
    posix_spawn_file_actions_destroy(&files);
    if (failed) std::abort();
  }
  ~Program() {
    if (process_ == 0) return;
    kill(SIGKILL);
    wait();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void kill(int signal) const { ::kill(process_, signal); }
  /// The output so far.
  std::string out() const { return content_of(out_); }
  std::string err() const { return content_of(err_); }
  /// Waits for the end of the program.
  RunResult wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), out(), err()};
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  /// A null-terminated array of C strings; `strings` must outlive it.
  static std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
    pointers.push_back(nullptr);
    return pointers;
  }

  static bool is_replaced(const char* entry, const std::vector<std::string>& replacements) {
    const std::string name(entry, std::strcspn(entry, "="));
    for (const std::string& replacement : replacements)
      if (replacement.substr(0, replacement.find('=')) == name) return true;
    return false;
  }

  static std::string content_of(const File& file) {
    std::string content;
    char buffer[4096];
    off_t offset = 0;
    for (ssize_t read; (read = pread(fileno(file.get()), buffer, sizeof buffer, offset)) > 0;
         offset += read)
      content.append(buffer, size_t(read));
    return content;
  }

  File out_{std::tmpfile()}, err_{std::tmpfile()};
  pid_t process_ = 0;
};

inline RunResult run(const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment = {}) {
  return Program(arguments, environment).wait();
}

}  // namespace hearth::testing
