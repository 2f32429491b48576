// Launchers with `--nnodes MIN:MAX` on this machine, which meet at an endpoint.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include "tests/cli/launch_support.h"

namespace hearth::testing {

/// Launchers of one job. The ranks note their numbers in files, and run until the file `go` exists,
/// or run a script of the test.
class Elastic : public ::testing::Test {
 protected:
  static std::string endpoint() { return "127.0.0.1:" + own_port(); }
  std::string path(const std::string& name) const { return folder_.path(name); }

  /// Starts a launcher. Its ranks run `first` (empty, or commands and a semicolon), append a line
  /// of numbers to the file `name` and their process ids to `name`.processes, and run the script;
  /// if it is empty, they wait for the file `go`.
  std::unique_ptr<Program> start(const std::string& name, std::vector<std::string> flags,
                                 const std::string& script = "",
                                 const std::vector<std::string>& environment = {},
                                 const std::string& first = "") const {
    flags.insert(flags.end(), {"--rdzv-endpoint", endpoint(), "--no-prefix"});
    const std::string note =
        "echo $HEARTH_RDZV_ROUND $RANK $WORLD_SIZE $GROUP_RANK "
        "$GROUP_WORLD_SIZE >> " +
        path(name) + "; echo $$ >> " + path(name + ".processes") + "; ";
    const std::string wait = "while [ ! -e " + path("go") + " ]; do sleep 0.02; done";
    return std::make_unique<Program>(
        launch_line(flags, first + note + (script.empty() ? wait : script)),
        clean_environment(environment));
  }
  /// Connects to the endpoint, or returns -1.
  static int connect_to_host() {
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(own_port())));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return file;
    close(file);
    return -1;
  }
  /// Waits until a launcher hosts the rendezvous.
  static void await_host() {
    int file = -1;
    ASSERT_TRUE(comes_true([&] { return (file = connect_to_host()) >= 0; }));
    close(file);
  }
  /// Waits until the ranks of a launcher have noted this line.
  ::testing::AssertionResult notes(const std::string& name, const std::string& line) const {
    const auto has_line = [&] {
      const std::vector<std::string> lines = lines_of(name);
      return std::find(lines.begin(), lines.end(), line) != lines.end();
    };
    if (comes_true(has_line)) return ::testing::AssertionSuccess();
    auto failure = ::testing::AssertionFailure() << "no '" << line << "' in " << name << ":\n";
    for (const std::string& other : lines_of(name)) failure << other << "\n";
    return failure;
  }
  std::vector<std::string> lines_of(const std::string& name) const {
    std::ifstream file(path(name));
    return sorted_lines({std::istreambuf_iterator<char>(file), {}});
  }
  void go() const { write_bytes(path("go"), ""); }
  std::vector<pid_t> processes_of(const std::string& name) const {
    return processes_in(path(name + ".processes"));
  }

  const TempFolder folder_;
};

}  // namespace hearth::testing
