#include "agent.h"

#include <net/if.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "../names.h"
#include "address.h"
#include "heartbeat.h"
#include "hearth/error.h"
#include "local_ranks.h"
#include "options.h"
#include "program.h"
#include "protocol.h"
#include "supervisor.h"

namespace hearth::app {

namespace {

constexpr size_t kMaxUnsent = 1 << 20;  // bytes

std::string interface_problem(const std::string& name) {
  if (name.empty() || if_nametoindex(name.c_str()) != 0) return "";
  std::string known;
  if (struct if_nameindex* list = if_nameindex()) {
    for (const struct if_nameindex* item = list; item->if_index != 0; ++item)
      known += (known.empty() ? "" : ", ") + std::string(item->if_name);
    if_freenameindex(list);
  }
  return "there is no network interface '" + printable(name) + "' (there are " + known + ")";
}

/// Checks the master's address on every machine, its port only on the master.
std::string master_problem(const Question& question, Answer& answer) {
  std::string problem;
  answer.master_addresses = resolve(question.master_addr, problem);
  if (!problem.empty() || !question.is_master) return problem;
  if (question.master_port) {
    answer.port = question.master_port;
    return listening_problem(question.master_addr, answer.port);
  }
  try {
    answer.port = free_port(question.master_addr);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Answer answer_to(const Question& question) {
  Answer answer;
  answer.version = kVersion;
  const auto add = [&](const std::string& problem) {
    if (!problem.empty()) answer.problems.push_back(problem);
  };
  std::error_code ignored;
  const bool has_folder =
      question.directory.empty() || std::filesystem::is_directory(question.directory, ignored);
  if (!has_folder) add("there is no folder '" + printable(question.directory) + "'");
  if (has_folder) {
    const ProgramFile program = find_program(question.program, question.directory);
    answer.program = fingerprint(program.path);
    add(program.problem);
  }
  add(interface_problem(question.interface));
  add(master_problem(question, answer));
  try {
    answer.processes = count_processes(question.processes);
  } catch (const Error& error) {
    add(error.what());
  }
  return answer;
}

class Agent {
 public:
  explicit Agent(std::chrono::seconds timeout)
      : in_([this](const std::string& line) { take_line(line); }, kLongestMessage),
        out_(loop_, STDOUT_FILENO),
        heartbeat_(loop_, timeout,
                   {[this] {
                      send({Frame::Kind::kAlive, 0, ""});
                    },
                    [this] { lose_launcher(); }}) {
    loop_.set_gate([this] { return out_.pending() < kMaxUnsent; });
    loop_.watch(STDIN_FILENO, POLLIN, [this] { read_input(); });
    out_.write("\n");  // ends a line that the login shell may have printed
  }

  void run() {
    while (has_launcher_ && !task_) loop_.run_once();
    if (!task_) return;
    run_ranks();
    // kDone says that the ranks ended by themselves or because the launcher told them to; it is not
    // sent if they were stopped here.
    const bool was_stopped_here = supervisor_->signal() != 0 && !was_told_to_end_;
    if (has_launcher_ && !was_stopped_here) send({Frame::Kind::kDone, 0, ""});
    while (has_launcher_ && out_.pending() > 0) loop_.run_once();
    HEARTH_CHECK(!was_stopped_here, "stopped by ", signal_name(supervisor_->signal()),
                 " on this machine");
  }

 private:
  void send(const Frame& frame) { out_.write(encode(frame)); }

  void read_input() {
    heartbeat_.heard();
    if (in_.read_from(STDIN_FILENO) == Lines::Read::kEnd) lose_launcher();
  }

  void lose_launcher() {
    if (!has_launcher_) return;
    has_launcher_ = false;
    loop_.forget(STDIN_FILENO);
    if (supervisor_) supervisor_->end();
  }

  void take_line(const std::string& line) {
    if (line == kAliveLine) return;
    if (const auto signal = decode_signal(line)) {
      forward(*signal);
    } else if (!was_asked_) {
      was_asked_ = true;
      send({Frame::Kind::kAnswer, 0, encode(answer_to(decode_question(line)))});
    } else if (!task_) {
      task_ = decode_task(line);
      // From now on, signals are for the ranks, even if none has been started yet.
      supervisor_.emplace(loop_, signals_, std::chrono::seconds(task_->grace));
    }
  }

  void forward(int signal) {
    was_told_to_end_ = was_told_to_end_ || asks_to_end(signal);
    if (supervisor_) supervisor_->forward(signal);
  }

  void run_ranks() {
    NodeJob job = task_->job;
    const ProgramFile program = find_program(job.command.at(0), job.directory);
    HEARTH_CHECK(program.problem.empty(), program.problem);
    job.command[0] = program.path;
    const auto handle_line = [this](const RankLine& line) {
      const auto kind = line.stream == Stream::kOut ? Frame::Kind::kOut : Frame::Kind::kErr;
      send({kind, line.local_rank, line.text});
    };
    const auto fail = [this](const Failure& failure) {
      if (!supervisor_->is_ending()) send({Frame::Kind::kFailure, 0, encode(failure)});
      supervisor_->failed(failure);
    };
    LocalRanks ranks({loop_, signals_, guard_}, job, task_->host, {handle_line, fail});
    supervisor_->run(ranks);
  }

  SignalReader signals_;
  Guard guard_;
  EventLoop loop_;
  Lines in_;
  Outlet out_;
  Heartbeat heartbeat_;
  std::optional<Supervisor> supervisor_;
  std::optional<Task> task_;
  bool has_launcher_ = true, was_asked_ = false, was_told_to_end_ = false;
};

}  // namespace

void run_agent(std::chrono::seconds timeout) { Agent(timeout).run(); }

}  // namespace hearth::app
