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

std::vector<std::string> agent_command(const std::string& ssh, const Host& host) {
  // The shell splits the command in `ssh`; "$@" are the words that follow.
  std::vector<std::string> words{"/bin/sh", "-c", ssh + " \"$@\"", "sh", "-T"};
  for (const char* option :
       {"BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=10", "ServerAliveCountMax=3"}) {
    words.push_back("-o");
    words.push_back(option);
  }
  const auto add = [&](const char* flag, const std::string& value) {
    words.push_back(flag);
    words.push_back(value);
  };
  if (host.port) add("-p", std::to_string(host.port));
  if (!host.user.empty()) add("-l", host.user);
  add("--", host.address);
  words.push_back(shell_word(host.hearth) + " launch --agent");  // read by the login shell there
  return words;
}

HostLink::HostLink(const Context& context, const std::string& ssh, const Host& host, Events events)
    : process_(context, {agent_command(ssh, host), own_environment(), "", /*has_input=*/true},
               [events](Stream stream, const std::string& line) {
                 const auto frame = stream == Stream::kOut ? decode_frame(line) : std::nullopt;
                 if (frame)
                   events.frame(*frame);
                 else
                   events.noise(stream, line);
               }),
      in_(context.loop, process_.input()) {}

}  // namespace hearth::app
