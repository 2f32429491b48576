#include "cluster_ranks.h"

#include <poll.h>
#include <sys/wait.h>

#include <CLI/StringTools.hpp>
#include <algorithm>

#include "../names.h"
#include "hearth/error.h"
#include "host_link.h"

namespace hearth::app {

namespace {

constexpr std::chrono::seconds kAnswerTimeout{30};
constexpr int kNotFound = 127;  // exit code of the host's shell for an unknown program

/// The error text for an ssh that has ended before the ranks were started.
std::string connection_problem(const Host& host, const LineProcess& ssh) {
  const std::vector<std::string> lines = ssh.last_lines();
  const std::string reason = lines.empty() ? "" : ": " + printable(lines.back());
  const int code = WIFEXITED(ssh.status()) ? WEXITSTATUS(ssh.status()) : 0;
  if (code == kConnectionFailed)
    return "cannot connect" + reason +
           "; 'ssh -o BatchMode=yes' to this machine must work without a password";
  if (code == kNotFound)
    return "there is no program '" + printable(host.hearth) + "'" + reason +
           "; install it there, or set 'hearth' in the cluster file to its path";
  Failure failure;
  failure.status = ssh.status();
  return "'" + printable(host.hearth) + "' ended with " + ending(failure) + reason +
         "; it must be version " + kVersion;
}

}  // namespace

struct ClusterRanks::Machine {
  Machine(const Context& context, const std::string& ssh, const Host& description,
          std::chrono::seconds timeout, HostLink::Events events)
      : host(description), link(context, ssh, host, timeout, std::move(events)) {}

  const Host& host;
  HostLink link;
  std::optional<Answer> answer;
  int first_rank = 0;
  bool is_done = false;  // all of its ranks have ended
};

ClusterRanks::ClusterRanks(const Context& context, ClusterJob job, RankEvents events)
    : context_(context), job_(std::move(job)), events_(std::move(events)) {
  std::vector<Host>& hosts = job_.cluster.hosts;
  hosts.resize(std::min(hosts.size(), size_t(job_.max_nodes)));
  if (job_.job.master_addr.empty()) job_.job.master_addr = hosts.front().address;
  for (const Host& host : hosts) connect(host);
  for (const auto& machine : machines_) machine->link.send_line(encode(question_to(*machine)));
  wait_for_answers();
  if (early_signal_) return;
  check_answers();
  compare_programs();
  start();
}

ClusterRanks::~ClusterRanks() = default;

void ClusterRanks::connect(const Host& host) {
  const size_t index = machines_.size();
  const HostLink::Events events{
      [this, index](const Frame& frame) { take_frame(*machines_[index], frame); },
      [this, index](Stream stream, const std::string& line) {
        take_noise(*machines_[index], stream, line);
      }};
  machines_.push_back(
      std::make_unique<Machine>(context_, job_.ssh, host, job_.heartbeat_timeout, events));
}

Question ClusterRanks::question_to(const Machine& machine) const {
  return {job_.job.command.at(0),
          machine.host.directory,
          machine.host.interface,
          machine.host.processes,
          job_.job.master_addr,
          job_.job.master_port,
          &machine == machines_.front().get()};
}

void ClusterRanks::wait_for_answers() {
  const auto read_signals = [this] {
    while (const auto signal = context_.signals.next()) {
      if (*signal == SIGCHLD) reap();
      if (asks_to_end(*signal)) early_signal_ = *signal;
    }
  };
  context_.loop.watch(context_.signals.file(), POLLIN, read_signals);
  const auto is_waiting = [](const auto& machine) {
    return !machine->answer && !machine->link.process().has_ended();
  };
  const auto deadline = EventLoop::Clock::now() + kAnswerTimeout;
  while (!early_signal_ && EventLoop::Clock::now() < deadline &&
         std::any_of(machines_.begin(), machines_.end(), is_waiting))
    context_.loop.run_once(deadline);
  context_.loop.forget(context_.signals.file());
}

std::string ClusterRanks::problems_of(const Machine& machine) const {
  const Host& host = machine.host;
  const std::string name =
      host.name == host.address ? host.name : host.name + " (" + host.address + ")";
  const auto line = [&](const std::string& problem) { return "\n  " + name + ": " + problem; };
  if (machine.link.was_silent())
    return line("nothing was heard from it for " + std::to_string(job_.heartbeat_timeout.count()) +
                " s (--heartbeat-timeout)");
  if (machine.link.process().has_ended())
    return line(connection_problem(host, machine.link.process()));
  if (!machine.answer)
    return line("no answer after " + std::to_string(kAnswerTimeout.count()) + " seconds");
  if (machine.answer->version != kVersion)
    return line("it has hearth " + printable(machine.answer->version) + ", this machine has " +
                kVersion + "; install the same version");
  std::string text;
  for (const std::string& problem : machine.answer->problems) text += line(problem);
  const Machine& first = *machines_.front();
  if (!text.empty() || !first.answer) return text;
  const std::vector<std::string>&here = machine.answer->master_addresses,
        &there = first.answer->master_addresses;
  if (here.empty() || there.empty() ||
      std::find_first_of(here.begin(), here.end(), there.begin(), there.end()) != here.end())
    return "";
  return line("'" + printable(job_.job.master_addr) + "' is " + printable(here[0]) +
              " here, but rank 0 on " + first.host.name + " listens on " + printable(there[0]) +
              "; use an address in place of the name");
}

void ClusterRanks::check_answers() const {
  std::string problems;
  std::set<std::string> unreachable;
  bool are_others_ready = true;
  for (const auto& machine : machines_) {
    const std::string problem = problems_of(*machine);
    problems += problem;
    if (!machine->answer)
      unreachable.insert(machine->host.name);
    else if (!problem.empty())
      are_others_ready = false;
  }
  if (problems.empty()) return;
  throw MachinesNotReady("the machines of '" + printable(job_.cluster_file) +
                             "' are not ready, no rank was started:" + problems,
                         are_others_ready ? unreachable : std::set<std::string>());
}

void ClusterRanks::compare_programs() const {
  const Machine& first = *machines_.front();
  for (const auto& machine : machines_)
    if (machine->answer->program != first.answer->program)
      events_.note("hearth: the program '" + printable(job_.job.command[0]) + "' on " +
                   machine->host.name + " differs from that on " + first.host.name + "\n");
}

void ClusterRanks::start() {
  NodeJob job = job_.job;
  job.nodes = static_cast<int>(machines_.size());
  job.master_port = machines_.front()->answer->port;
  job.world_size = 0;
  for (const auto& machine : machines_) {
    machine->first_rank = job.world_size;
    job.world_size += machine->answer->processes;
  }
  for (const auto& machine : machines_) {
    job.first_rank = machine->first_rank;
    job.local_size = machine->answer->processes;
    job.directory = machine->host.directory;
    job.environment = machine->host.environment;
    machine->link.send_line(encode(Task{job, machine->host.name, job_.grace}));
    ++job.node;
  }
  has_started_ = true;
}

void ClusterRanks::take_frame(Machine& machine, const Frame& frame) {
  const Host& host = machine.host;
  switch (frame.kind) {
    case Frame::Kind::kAnswer: machine.answer = decode_answer(frame.text); break;
    case Frame::Kind::kOut:
    case Frame::Kind::kErr: {
      const Stream stream = frame.kind == Frame::Kind::kOut ? Stream::kOut : Stream::kErr;
      const int rank = machine.first_rank + frame.local_rank;
      events_.line({rank, frame.local_rank, host.name, stream, frame.text});
      break;
    }
    case Frame::Kind::kFailure: events_.failure(decode_failure(frame.text)); break;
    case Frame::Kind::kAlive: break;
    case Frame::Kind::kDone: machine.is_done = true; break;
  }
}

void ClusterRanks::take_noise(const Machine& machine, Stream stream, const std::string& line) {
  // Lines on stdout are the login shell's. Those on stderr are at first only a part of errors.
  if (has_started_ && stream == Stream::kErr)
    events_.note("[" + machine.host.name + "] " + line.substr(0, line.find_last_not_of('\r') + 1) +
                 "\n");
}

void ClusterRanks::send(int signal) {
  if (signal == SIGKILL) ++num_kills_;
  for (const auto& machine : machines_) {
    machine->link.send_line(signal_line(signal));
    // The agent has had time to kill its ranks; the connection may be dead.
    if (num_kills_ > 1) machine->link.process().send(SIGKILL);
  }
}

void ClusterRanks::reap() {
  for (const auto& machine : machines_) {
    const LineProcess& ssh = machine->link.process();
    if (!machine->link.process().reap() || !has_started_ || machine->is_done) continue;
    const bool has_reason = ssh.status() != 0 && !machine->link.was_silent();
    const int status = has_reason ? ssh.status() : W_EXITCODE(kConnectionFailed, 0);
    Failure failure{-1, 0, ssh.id(), machine->host.name, status, time_now(), ssh.last_lines()};
    if (machine->link.was_silent())
      failure.last_lines.push_back("hearth: nothing was heard from this machine for " +
                                   std::to_string(job_.heartbeat_timeout.count()) + " s");
    events_.failure(failure);
  }
}

bool ClusterRanks::ended() const {
  return std::all_of(machines_.begin(), machines_.end(),
                     [](const auto& machine) { return machine->link.process().has_ended(); });
}

std::unique_ptr<ClusterRanks> start_where_possible(const Context& context, ClusterJob job,
                                                   const RankEvents& events) {
  std::vector<Host>& hosts = job.cluster.hosts;
  while (true) {
    try {
      return std::make_unique<ClusterRanks>(context, job, events);
    } catch (const MachinesNotReady& error) {
      const std::set<std::string>& gone = error.unreachable();
      if (gone.empty() || hosts.size() - gone.size() < size_t(job.min_nodes)) throw;
      std::erase_if(hosts, [&](const Host& host) { return gone.contains(host.name); });
      events.note("hearth: continuing without the machines that cannot be reached: " +
                  CLI::detail::join(gone, ", ") + "\n");
    }
  }
}

}  // namespace hearth::app
