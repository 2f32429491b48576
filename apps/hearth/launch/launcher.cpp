#include "launcher.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "../names.h"
#include "address.h"
#include "elastic_run.h"
#include "hearth/error.h"
#include "local_ranks.h"
#include "program.h"
#include "random_text.h"
#include "waiting.h"

namespace hearth::app {

namespace {

/// Throws if --tee or --redirects names a rank that does not exist.
void check_choice(const std::string& flag, const StreamChoice& choice, int world_size) {
  if (choice.highest_rank() >= world_size)
    throw CLI::ValidationError(flag, "there is no rank " + std::to_string(choice.highest_rank()) +
                                         "; ranks are from 0 to " + std::to_string(world_size - 1));
}

/// Throws if --local-ranks-filter names a rank that a job on one machine does not have.
void check_filter(const std::vector<int>& local_ranks, int local_size) {
  for (const int rank : local_ranks)
    if (rank >= local_size)
      throw CLI::ValidationError("--local-ranks-filter", "there is no local rank " +
                                                             std::to_string(rank) +
                                                             "; local ranks are from 0 to " +
                                                             std::to_string(local_size - 1));
}

/// Throws if the command for ssh does not exist.
void check_ssh(const std::string& ssh) {
  const std::string word = ssh.substr(0, ssh.find_first_of(" \t"));
  const bool is_plain = word.find_first_of("'\"$`\\;&|(){}=~*?<>") == std::string::npos;
  const std::string problem = is_plain ? find_program(word, "").problem : "";
  HEARTH_CHECK(problem.empty(), "--ssh: ", problem,
               ssh == "ssh" ? "; the package openssh-client has it" : "");
}

}  // namespace

Launcher::Launcher(const LaunchOptions& options)
    : options_(options), console_(loop_, options.console) {
  loop_.set_gate([this] { return !console_.is_behind(); });
  job_.command = options.command;
  job_.token = options.token;
  job_.run_id = options.run_id;
  job_.max_restarts = options.max_restarts;
  port_ = options.master_port;
  if (!options.cluster.empty())
    prepare_cluster();
  else if (options.is_elastic)
    prepare_program();
  else
    prepare_machine();
  if (options.is_elastic) {
    const NodeRange& nodes = *options.nodes;
    if (nodes.min < nodes.max)
      job_.node_range = std::to_string(nodes.min) + ":" + std::to_string(nodes.max);
    return;  // the host of the rendezvous chooses the token and the ids
  }
  const bool starts_all_ranks = cluster_ || job_.nodes == 1;
  if (job_.token.empty() && starts_all_ranks) job_.token = random_text();
  if (starts_all_ranks) job_.launch_id = random_text();
  if (job_.run_id.empty()) job_.run_id = starts_all_ranks ? random_text() : "none";
}

void Launcher::prepare_program() {
  const ProgramFile program = find_program(job_.command[0], "");
  HEARTH_CHECK(program.problem.empty(), program.problem);
  job_.command[0] = program.path;
  job_.local_size = count_processes(options_.processes);
  if (limits_threads(job_))
    console_.note("hearth: OMP_NUM_THREADS is not set, so it is 1 for each of the " +
                  std::to_string(job_.local_size) +
                  " ranks, which share this machine; set it to use more threads\n");
}

void Launcher::prepare_machine() {
  if (!options_.master_addr.empty()) job_.master_addr = options_.master_addr;
  if (!options_.endpoint.empty()) {
    Endpoint endpoint;
    parse_endpoint(options_.endpoint, endpoint);
    job_.master_addr = endpoint.host;
    if (endpoint.port) port_ = endpoint.port;
  }
  job_.nodes = options_.nodes.value_or(NodeRange()).max;
  if (!port_ && job_.nodes > 1) port_ = kDefaultPort;
  job_.node = options_.node_rank;
  job_.has_common_restarts = job_.nodes == 1;
  prepare_program();
  job_.first_rank = job_.node * job_.local_size;
  job_.world_size = job_.nodes * job_.local_size;
  if (job_.nodes == 1) check_filter(options_.console.local_ranks, job_.local_size);
  check_choice("--tee", options_.console.tee, job_.world_size);
  check_choice("--redirects", options_.console.redirects, job_.world_size);
}

void Launcher::prepare_cluster() {
  check_ssh(options_.ssh);
  Cluster cluster = read_cluster(options_.cluster);
  const int num_hosts = static_cast<int>(cluster.hosts.size());
  const NodeRange nodes = options_.nodes.value_or(NodeRange{num_hosts, num_hosts});
  if (nodes.min > num_hosts)
    throw CLI::ValidationError("--nnodes", "the cluster file has only " +
                                               std::to_string(num_hosts) + " machines, not " +
                                               std::to_string(nodes.min));
  for (Host& host : cluster.hosts) {
    if (host.directory.empty()) host.directory = std::filesystem::current_path();
    if (host.hearth.empty()) host.hearth = std::filesystem::read_symlink("/proc/self/exe");
  }
  if (!port_) port_ = cluster.master_port;
  job_.master_port = port_.value_or(0);
  job_.master_addr = options_.master_addr;
  cluster_ = {options_.cluster,
              std::move(cluster),
              options_.ssh,
              nodes.min,
              nodes.max,
              options_.grace,
              std::chrono::seconds(options_.heartbeat_timeout),
              job_};
}

int Launcher::run() {
  int status = 0;
  try {
    status = run_attempts();
  } catch (...) {
    flush();
    throw;
  }
  flush();
  if (status == 0) console_.check();
  return status;
}

int Launcher::run_attempts() {
  if (options_.is_elastic)
    return ElasticRun({loop_, signals_, guard_}, console_, options_, job_).run();
  for (int restart = 0;; ++restart) {
    Supervisor supervisor(loop_, signals_, std::chrono::seconds(options_.grace));
    const bool has_run = run_attempt(restart, supervisor);
    const int signal = supervisor.signal();
    if (!supervisor.failures().empty())
      console_.note(failure_report(options_.command[0], supervisor.failures()));
    else if (has_run && signal == 0)
      return 0;
    if (signal != 0) console_.note("hearth: stopped by " + signal_name(signal) + "\n");
    if (signal == 0 && restart < options_.max_restarts) {
      console_.note("hearth: all ranks are started again (restart " + std::to_string(restart + 1) +
                    " of " + std::to_string(options_.max_restarts) + ")\n");
      continue;
    }
    return supervisor.failures().empty() ? 128 + signal : exit_code(supervisor.failures()[0]);
  }
}

bool Launcher::run_attempt(int restart, Supervisor& supervisor) {
  const Context context{loop_, signals_, guard_};
  const RankEvents events{[this](const RankLine& line) { console_.add(line); },
                          [&](const Failure& failure) { supervisor.failed(failure); },
                          [this](const std::string& text) { console_.note(text); }};
  console_.begin_attempt(restart);
  job_.restart = restart;
  if (cluster_) return run_on_cluster(context, events, supervisor);
  choose_port();
  LocalRanks ranks(context, job_, host_name(), events);
  supervisor.run(ranks);
  return true;
}

bool Launcher::run_on_cluster(const Context& context, const RankEvents& events,
                              Supervisor& supervisor) {
  cluster_->job = job_;
  try {
    const auto ranks = start_where_possible(context, *cluster_, events);
    if (ranks->early_signal())
      supervisor.forward(ranks->early_signal());
    else
      supervisor.run(*ranks);
    return true;
  } catch (const MachinesNotReady& error) {
    if (job_.restart == 0 || job_.restart == job_.max_restarts) throw;
    console_.note("hearth: " + printable_lines(error.what()) + "\n");
  }
  // A failed machine may need some time to return, and its ranks to notice that their launcher is
  // gone.
  const auto until = EventLoop::Clock::now() + cluster_->heartbeat_timeout;
  const auto never = [] { return false; };
  if (const int signal = wait_until(loop_, signals_, never, until)) supervisor.forward(signal);
  return false;
}

void Launcher::choose_port() {
  if (!port_) {
    // A restart keeps the port, at which hearth top follows the job.
    const bool has_port =
        job_.restart > 0 && listening_problem(job_.master_addr, job_.master_port).empty();
    if (!has_port) job_.master_port = free_port(job_.master_addr);
    return;
  }
  job_.master_port = *port_;
  std::string problem;
  if (job_.node == 0)
    problem = listening_problem(job_.master_addr, *port_);
  else
    resolve(job_.master_addr, problem);
  HEARTH_CHECK(problem.empty(), problem);
}

void Launcher::flush() {
  wait_until(loop_, signals_, [this] { return console_.is_done(); });
}

}  // namespace hearth::app
