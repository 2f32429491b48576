#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <thread>

#include "../choices.h"
#include "../names.h"
#include "address.h"
#include "hearth/cuda.h"
#include "hearth/error.h"

namespace hearth::app {

namespace {

constexpr int kMaxProcesses = 4096, kMaxNodes = 65536, kMaxRestarts = 1'000'000;
constexpr int kLongestWait = 86400;  // seconds: a day
constexpr const char* kSpecialCounts[] = {"auto", "cpu", "gpu"};

bool is_special(const std::string& count) {
  return std::find(std::begin(kSpecialCounts), std::end(kSpecialCounts), count) !=
         std::end(kSpecialCounts);
}

std::string check_endpoint(const std::string& text) {
  Endpoint ignored;
  return parse_endpoint(text, ignored);
}

std::string not_empty(const std::string& text) { return text.empty() ? "the value is empty" : ""; }

/// Reads "2" or "2:4". Returns an error text; empty if the text was valid.
std::string parse_nodes(const std::string& text, NodeRange& nodes) {
  const size_t colon = std::min(text.find(':'), text.size());
  std::string least = text.substr(0, colon);
  std::string most = colon < text.size() ? text.substr(colon + 1) : least;
  for (std::string* number : {&least, &most})
    if (const std::string error = whole_number(1, kMaxNodes)(*number); !error.empty()) return error;
  nodes = {std::stoi(least), std::stoi(most)};
  return nodes.min <= nodes.max ? "" : "'" + text + "' must be MIN:MAX, the smaller number first";
}

std::string check_nodes(const std::string& text) {
  NodeRange ignored;
  return parse_nodes(text, ignored);
}

void add_machines(CLI::App& launch, LaunchOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* description) {
    return launch.add_option(name, value, description)->group("Ranks and machines");
  };
  suggest_values(add("--nproc-per-node", options.processes, "Processes on each machine, or one of"),
                 {{std::begin(kSpecialCounts), std::end(kSpecialCounts)}})
      ->check(CLI::Validator(check_processes, ""))
      ->capture_default_str();
  add("--nnodes", options.node_counts,
      "Machines, a number or MIN:MAX (default: 1, or all of --cluster)")
      ->check(CLI::Validator(check_nodes, ""));
  add("--node-rank", options.node_rank, "Number of this machine, from 0")
      ->check(whole_number(0, kMaxNodes));
  add("--rdzv-endpoint", options.endpoint, "HOST:PORT at which the machines meet")
      ->check(CLI::Validator(check_endpoint, ""));
  add("--master-addr", options.master_addr, "HOST of --rdzv-endpoint")->check(not_empty);
  add("--master-port", options.master_port, "Port of rank 0's store (default: free, or 29500)")
      ->check(whole_number(1, 65535));
  launch.add_flag("--standalone", options.is_standalone, "One machine, which is the default")
      ->group("Ranks and machines");
  add("--rdzv-token", options.token, "Secret that all ranks must know")->check(not_empty);
  add("--rdzv-id", options.run_id, "Name of the job, for its programs")->check(not_empty);
  suggest_values(
      add("--cluster", options.cluster, "TOML file with machines, which are reached by ssh"),
      {{}, Values::Paths::kFiles})
      ->type_name("FILE")
      ->check(not_empty);
  add("--ssh", options.ssh, "Command in place of ssh")->check(not_empty);
}

void add_failures(CLI::App& launch, LaunchOptions& options) {
  const auto add = [&](const char* name, int& value, const char* description) {
    return launch.add_option(name, value, description)
        ->group("Failures and signals")
        ->capture_default_str();
  };
  add("--max-restarts", options.max_restarts,
      "How often all ranks are started again after a failure")
      ->check(whole_number(0, kMaxRestarts));
  add("--shutdown-timeout", options.grace, "Seconds from the signal to SIGKILL")
      ->check(whole_number(0, kLongestWait));
  add("--heartbeat-timeout", options.heartbeat_timeout,
      "Seconds without a heartbeat after which another launcher or machine counts as lost")
      ->check(whole_number(1, kLongestWait));
}

void add_output(CLI::App& launch, LaunchOptions& options) {
  const auto group = [](CLI::Option* option) { return option->group("Output"); };
  group(launch.add_option("--log-line-prefix-template", options.console.prefix,
                          "Prefix of each line, with ${rank}, ${local_rank}, ${hostname}"))
      ->default_str("'" + options.console.prefix + "'");
  group(launch.add_flag("--no-prefix", options.has_no_prefix, "No prefix"));
  group(launch.add_option("--local-ranks-filter", options.console.local_ranks,
                          "Local ranks whose output is shown (default: all)"))
      ->delimiter(',')
      ->check(whole_number(0, kMaxProcesses));
  group(suggest_values(launch.add_option("--log-dir", options.console.log_dir,
                                         "Folder for a log file of each rank and stream"),
                       {{}, Values::Paths::kFolders}))
      ->type_name("FOLDER")
      ->check(not_empty);
  const auto add = [&](const char* name, std::string& value, const char* description) {
    group(launch.add_option(name, value, description))->check([](const std::string& text) {
      return StreamChoice().parse(text);
    });
  };
  add("-t,--tee", options.tee, "Streams to show and to log: 1, 2, 3 for both, or 0:1,1:2");
  add("-r,--redirects", options.redirects, "Streams to log only");
}

[[noreturn]] void refuse(const std::string& flag, const std::string& reason) {
  throw CLI::ValidationError(flag, reason);
}

/// Flags of torchrun without a counterpart: their effect is the only behaviour, or is achieved in
/// another way.
void add_foreign_flags(CLI::App& launch) {
  launch.add_flag("--no-python")->group("");  // programs are always started directly
  constexpr std::pair<const char*, const char*> kRefused[] = {
      {"--rdzv-backend", "leave it out; the ranks meet at --rdzv-endpoint"},
      {"--rdzv-conf", "leave it out; the ranks meet at --rdzv-endpoint"},
      {"--monitor-interval", "leave it out; failures are noticed at once"},
      {"--start-method", "leave it out; the program is started as a new process"},
      {"--role", "leave it out; all ranks have the role 'default'"},
      {"-m,--module", "use the program 'python3', with '-m' as its first argument"}};
  for (const auto& [flag, remedy] : kRefused) {
    const std::string name = flag,
                      reason = std::string("torchrun's flag has no counterpart: ") + remedy;
    // The error of a check would lack the name of a hidden flag.
    const auto call = [name, reason](const std::string&) { refuse(name, reason); };
    launch.add_option_function<std::string>(name, call)->group("");
  }
}

bool is_given(const CLI::App& launch, const std::string& flag) {
  return launch.get_option(flag)->count() > 0;
}

std::string text_or(const char* text, const char* otherwise) {
  return text && *text ? text : otherwise;
}

void check_cluster_flags(const CLI::App& launch) {
  for (const char* flag : {"--nproc-per-node", "--node-rank", "--rdzv-endpoint", "--standalone"})
    if (is_given(launch, flag))
      refuse(flag, "cannot be combined with --cluster, whose file names the machines");
}

/// The flags for machines whose launchers meet at the endpoint.
void check_elastic_flags(const CLI::App& launch, const LaunchOptions& options) {
  if (options.endpoint.empty())
    refuse("--nnodes", "'" + options.node_counts +
                           "' needs --rdzv-endpoint HOST:PORT, the same on all machines, or "
                           "--cluster");
  for (const char* flag : {"--node-rank", "--master-addr", "--standalone"})
    if (is_given(launch, flag))
      refuse(flag,
             "cannot be combined with --nnodes MIN:MAX, whose machines meet at "
             "--rdzv-endpoint and get their numbers there");
  Endpoint endpoint;
  parse_endpoint(options.endpoint, endpoint);
  if (options.master_port == endpoint.port.value_or(kDefaultPort))
    refuse("--master-port",
           "the launchers meet at this port of --rdzv-endpoint; choose another "
           "one for rank 0");
}

void check_nodes_flags(const CLI::App& launch, const LaunchOptions& options) {
  const NodeRange nodes = options.nodes.value_or(NodeRange());
  if (options.node_rank >= nodes.max)
    refuse("--node-rank", std::to_string(options.node_rank) + " must be below --nnodes, " +
                              std::to_string(nodes.max) + "; machines are counted from 0");
  if (nodes.max == 1) return;
  const std::string machines = std::to_string(nodes.max) + " machines";
  if (options.is_standalone) refuse("--standalone", "stands for one machine");
  if (options.endpoint.empty() && options.master_addr.empty())
    refuse("--nnodes", machines + " need --rdzv-endpoint HOST:PORT, an address of machine 0");
  if (!is_given(launch, "--node-rank"))
    refuse("--nnodes", machines + " need --node-rank, which differs on each machine");
}

void check_endpoint_flags(const LaunchOptions& options) {
  if (options.endpoint.empty()) return;
  Endpoint endpoint;
  parse_endpoint(options.endpoint, endpoint);
  if (!options.master_addr.empty() && options.master_addr != endpoint.host)
    refuse("--master-addr", "'" + printable(options.master_addr) +
                                "' contradicts --rdzv-endpoint; give only one of them");
  if (options.master_port && endpoint.port && options.master_port != endpoint.port)
    refuse("--master-port", std::to_string(*options.master_port) +
                                " contradicts --rdzv-endpoint; give only one of them");
}

}  // namespace

std::vector<std::string> take_program_arguments(const CLI::App& app,
                                                std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] != "launch") return {};
  const CLI::App* launch = app.get_subcommand("launch");
  size_t position = 1;  // after the loop, the program's
  for (; position < arguments.size(); ++position) {
    std::string& flag = arguments[position];
    if (!flag.starts_with('-') || flag == "--") break;
    const size_t equals = std::min(flag.find('='), flag.size());
    // torchrun accepts underscores, too.
    if (flag.starts_with("--")) std::replace(flag.begin(), flag.begin() + long(equals), '_', '-');
    const CLI::Option* option = launch->get_option_no_throw(flag.substr(0, equals));
    if (option && takes_value(*option) && equals == flag.size()) ++position;
  }
  if (position >= arguments.size()) return {};
  if (arguments[position] != "--") arguments.insert(arguments.begin() + long(position), "--");
  const size_t first = std::min(position + 2, arguments.size());
  std::vector<std::string> taken(arguments.begin() + long(first), arguments.end());
  arguments.resize(first);
  return taken;
}

void add_launch_flags(CLI::App& launch, LaunchOptions& options) {
  add_machines(launch, options);
  add_failures(launch, options);
  add_output(launch, options);
  add_foreign_flags(launch);
}

void finish_launch_options(const CLI::App& launch, LaunchOptions& options) {
  if (is_given(launch, "--nnodes")) parse_nodes(options.node_counts, options.nodes.emplace());
  const bool is_range = options.node_counts.find(':') != std::string::npos;
  options.is_elastic = is_range && options.cluster.empty();
  if (options.is_elastic) {
    check_elastic_flags(launch, options);
  } else {
    if (!options.cluster.empty())
      check_cluster_flags(launch);
    else
      check_nodes_flags(launch, options);
    check_endpoint_flags(options);
  }
  for (const char* flag : {"--tee", "--redirects"})
    if (is_given(launch, flag) && options.console.log_dir.empty())
      refuse(flag, "needs --log-dir, the folder for the log files");
  if (!options.tee.empty()) options.console.tee.parse(options.tee);
  if (!options.redirects.empty()) options.console.redirects.parse(options.redirects);
  if (options.has_no_prefix) options.console.prefix.clear();
  if (options.token.empty()) options.token = text_or(std::getenv("HEARTH_RDZV_TOKEN"), "");
  // The messages of the launchers are JSON.
  if (options.is_elastic && !is_utf8(options.token))
    refuse("--rdzv-token", "the secret, also that in HEARTH_RDZV_TOKEN, must be valid UTF-8");
  if (options.ssh.empty()) options.ssh = text_or(std::getenv("HEARTH_SSH"), "ssh");
}

int count_processes(const std::string& text) {
  if (!is_special(text)) return std::stoi(text);
  const int gpus = text == "cpu" ? 0 : int(cuda::device_count());
  HEARTH_CHECK(text != "gpu" || gpus > 0, "there is no GPU to count: ", cuda::why_not());
  return gpus > 0 ? gpus : std::max(1, int(std::thread::hardware_concurrency()));
}

std::string check_processes(const std::string& text) {
  std::string copy = text;
  if (is_special(text) || whole_number(1, kMaxProcesses)(copy).empty()) return "";
  return whole_number(1, kMaxProcesses)(copy) + ", nor auto, cpu or gpu";
}

}  // namespace hearth::app
