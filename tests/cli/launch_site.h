// `hearth launch --cluster` with machines that are reached by a script in place of ssh.
#pragma once

#include "tests/cli/launch_support.h"

namespace hearth::testing {

/// A cluster file of three hosts, all of them this machine.
inline constexpr const char* kThreeHosts = R"(
[[host]]
address = "127.0.0.1"
[[host]]
address = "127.0.0.2"
[[host]]
address = "127.0.0.3"
)";

/// Runs the remote command on this machine. 127.0.0.9 and every address in the file $SSH_GONE
/// refuse connections; 127.0.0.8 has no hearth, and 127.0.0.7 has another version. 127.0.0.6 gives
/// the answer $SSH_ANSWER and runs no ranks. 127.0.0.5 never answers. Other addresses add the
/// script's process id to the file $SSH_FILE. With $SSH_RELAY, the data pass through two processes,
/// whose ids are added to the file $SSH_RELAY.
inline constexpr const char* kSsh = R"(#!/bin/sh
refuse() {
  echo "ssh: connect to host $address port 22: Connection refused" >&2
  exit 255
}
relay() { sh -c 'echo $$ >> "$SSH_RELAY"; exec cat'; }
while [ "$1" != -- ]; do
  case $1 in -o | -p | -l) shift 2 ;; *) shift ;; esac
done
address=$2
! grep -qxs "$address" "$SSH_GONE" || refuse
case $address in
127.0.0.9) refuse ;;
127.0.0.8) exec sh -c "/nowhere/$3" ;;
127.0.0.7) printf '\036a{"version":"0.0.1"}\n'; exec cat ;;
127.0.0.5) exec sleep 60 ;;
127.0.0.6)
  printf '\036a%s\n' "$SSH_ANSWER"
  read question
  read task
  printf '\036d\n'
  exit 0
  ;;
esac
[ -z "$SSH_FILE" ] || echo $$ >> "$SSH_FILE"
echo "Welcome to $address"
printf "no newline"
[ -z "$SSH_RELAY" ] || { relay | sh -c "$3" | relay; exit; }
exec sh -c "$3"
)";

/// A cluster file of two hosts, with two ranks on alpha and one on beta.
inline constexpr const char* kTwoHosts = R"(
processes = 2
[[host]]
name = "alpha"
address = "127.0.0.1"
[[host]]
name = "beta"
address = "127.0.0.2"
processes = 1
)";

/// A folder with a cluster file and a script in place of ssh. Ranks see `record` as $FILE; the file
/// `gone` lists addresses that refuse connections.
struct Site {
  TempFolder folder;
  std::string file = folder.path("cluster.toml"), ssh = folder.path("ssh"),
              record = folder.path("record"), gone = folder.path("gone");

  explicit Site(const std::string& cluster = kTwoHosts) {
    write_bytes(file, cluster);
    write_bytes(ssh, kSsh);
    std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
  }
  std::vector<std::string> environment() const {
    return clean_environment(
        {"FILE=" + record, "SSH_FILE=" + folder.path("ssh-record"), "SSH_GONE=" + gone});
  }
  std::vector<std::string> line(const std::string& script,
                                std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"--cluster", file, "--ssh", ssh});
    return launch_line(flags, script);
  }
  RunResult launch(const std::string& script, const std::vector<std::string>& flags = {}) const {
    return run(line(script, flags), environment());
  }
};

/// A launcher whose ranks on both hosts have started.
struct RunningCluster {
  Site site;
  Program program;
  explicit RunningCluster(const std::string& script, const std::vector<std::string>& flags = {},
                          const std::vector<std::string>& variables = {})
      : program(site.line(script, flags), joined(site.environment(), variables)) {
    EXPECT_TRUE(comes_true([&] { return processes_in(site.record).size() == 3; })) << program.err();
  }

 private:
  static std::vector<std::string> joined(std::vector<std::string> all,
                                         const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

}  // namespace hearth::testing
