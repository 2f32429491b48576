#include "host_link.h"

#include <unistd.h>

#include "../quotes.h"

namespace hearth::app {

namespace {

/// This process's variables, as NAME=value.
std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry) environment.emplace_back(*entry);
  return environment;
}

}  // namespace

std::vector<std::string> agent_command(const std::string& ssh, const Host& host,
                                       std::chrono::seconds timeout) {
  // The shell splits the command in `ssh`; "$@" are the words that follow.
  std::vector<std::string> words{"/bin/sh", "-c", ssh + " \"$@\"", "sh", "-T"};
  const auto add = [&](const char* flag, const std::string& value) {
    words.push_back(flag);
    words.push_back(value);
  };
  for (const char* option : {"BatchMode=yes", "ConnectTimeout=10"}) add("-o", option);
  if (host.port) add("-p", std::to_string(host.port));
  if (!host.user.empty()) add("-l", host.user);
  add("--", host.address);
  // The host's login shell parses this word.
  words.push_back(shell_word(host.hearth) + " launch --agent --heartbeat-timeout " +
                  std::to_string(timeout.count()));
  return words;
}

HostLink::HostLink(const Context& context, const std::string& ssh, const Host& host,
                   std::chrono::seconds timeout, Events events)
    : loop_(context.loop),
      process_(
          context, {agent_command(ssh, host, timeout), own_environment(), "", /*has_input=*/true},
          [this, events](Stream stream, const std::string& line) {
            heartbeat_.heard();
            const auto frame = stream == Stream::kOut ? decode_frame(line) : std::nullopt;
            if (frame)
              events.frame(*frame);
            else
              events.noise(stream, line);
          },
          kLongestMessage),
      to_agent_(context.loop, process_.input()),
      heartbeat_(context.loop, timeout, {[this] { beat(); }, [this] { cut(); }}) {}

void HostLink::beat() {
  send_line(kAliveLine);
  // While the loop does not read, silence says nothing about the connection.
  if (!loop_.is_open()) heartbeat_.heard();
}

void HostLink::cut() {
  was_silent_ = true;
  process_.send(SIGKILL);
}

}  // namespace hearth::app
