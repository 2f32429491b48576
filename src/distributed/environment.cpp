#include "distributed/environment.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "hearth/distributed/init.h"
#include "hearth/error.h"

namespace hearth::distributed {

namespace {

constexpr int kMaxPort = 65535;
constexpr int kMaxRanks = 1 << 20;
constexpr int kUsualPort = 29500;  // as in PyTorch

std::optional<std::string> text_variable(const char* name) {
  const char* const value = std::getenv(name);
  if (!value || !*value) return {};
  return value;
}

/// Parses a number from `least` to `most`; `name` is for the error.
int parse_number(const std::string& name, const std::string& text, int least, int most) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  HEARTH_CHECK_AS(
      ValueError,
      result.ec == std::errc() && result.ptr == end && least <= number && number <= most, name,
      " is '", text, "', but must be a number from ", least, " to ", most);
  return number;
}

std::optional<int> number_variable(const char* name, int least, int most) {
  const auto text = text_variable(name);
  if (!text) return {};
  return parse_number(detail::str("the environment variable ", name), *text, least, most);
}

/// The variables in which a launcher passes a process's ranks and the number of processes.
struct Launcher {
  const char* name;
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* signs[2];  // one is set if the launcher has started this process
};
constexpr Launcher kLaunchers[] = {
    {"hearth launch or torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", {"RANK", "WORLD_SIZE"}},
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     {"OMPI_COMM_WORLD_RANK"}},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", {"PMI_RANK"}},
    // Only srun sets SLURM_STEP_NUM_TASKS. A batch script has the other variables too, even
    // SLURM_NTASKS, the number of processes that srun would start.
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", {"SLURM_STEP_NUM_TASKS"}},
};

/// Sets a missing rank or world size from the first launcher that has set one of them.
const Launcher* ask_launcher(Rendezvous& found) {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = number_variable(launcher.rank, 0, kMaxRanks - 1);
    const auto size = number_variable(launcher.world_size, 1, kMaxRanks);
    if (!rank && !size) continue;
    if (found.rank < 0) {
      HEARTH_CHECK_AS(ValueError, rank, "the environment variable ", launcher.world_size,
                      " is set, but ", launcher.rank,
                      " is not; set it to the number of this "
                      "process, or start it with hearth launch");
      found.rank = *rank;
    }
    if (found.world_size < 0) {
      HEARTH_CHECK_AS(ValueError, size, "the environment variable ", launcher.rank, " is set, but ",
                      launcher.world_size,
                      " is not; set it to the number of "
                      "processes, or start them with hearth launch");
      found.world_size = *size;
    }
    return &launcher;
  }
  return nullptr;
}

/// The host of rank 0, if the launcher tells it.
std::optional<std::string> host_of(const Launcher* launcher) {
  if (!launcher) return {};
  const std::string_view rank = launcher->rank;
  if (rank == "SLURM_PROCID") {
    const auto nodes = text_variable("SLURM_JOB_NODELIST");
    if (nodes) return first_host(*nodes);
  }
  if (rank == "OMPI_COMM_WORLD_RANK") {
    const auto size = number_variable("OMPI_COMM_WORLD_SIZE", 1, kMaxRanks);
    if (size && size == number_variable("OMPI_COMM_WORLD_LOCAL_SIZE", 1, kMaxRanks))
      return "127.0.0.1";
  }
  return {};
}

/// The last `count` digits of a number; other texts are left as they are.
std::string last_digits(const std::string& text, size_t count) {
  const bool has_only_digits = text.find_first_not_of("0123456789") == std::string::npos;
  return has_only_digits && text.size() > count ? text.substr(text.size() - count) : text;
}

/// The port of a job, if the launcher lets all processes find the same one.
std::optional<int> port_of_job(const Launcher* launcher) {
  if (!launcher || std::string_view(launcher->rank) == "RANK") return {};
  // Jobs of Slurm may share a machine, so they get different ports, unless the last four digits of
  // their numbers are equal (PyTorch Lightning has this rule too). In that case rank 0 of the later
  // job fails, and the error says to set MASTER_PORT.
  constexpr int kFirst = 20'000, kCount = 10'000;
  if (std::string_view(launcher->rank) == "SLURM_PROCID")
    if (const auto job = text_variable("SLURM_JOB_ID"))
      return kFirst + parse_number("the environment variable SLURM_JOB_ID", last_digits(*job, 4), 0,
                                   kCount - 1);
  return kUsualPort;
}

void check_rank(const Rendezvous& found) {
  HEARTH_CHECK_AS(ValueError, found.rank < found.world_size, "the rank (RANK) is ", found.rank,
                  ", but the world size (WORLD_SIZE) is ", found.world_size,
                  "; ranks go from 0 to ", found.world_size - 1);
}

void read_environment(Rendezvous& found) {
  const Launcher* const launcher = ask_launcher(found);
  HEARTH_CHECK_AS(ValueError, found.rank >= 0 && found.world_size >= 0, "the environment variable ",
                  found.rank < 0 ? "RANK" : "WORLD_SIZE",
                  " is expected, but not set; start the program with hearth launch, or set RANK, "
                  "WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
  auto host = text_variable("MASTER_ADDR");
  if (!host) host = host_of(launcher);
  HEARTH_CHECK_AS(ValueError, host,
                  "the environment variable MASTER_ADDR is expected, but not set; "
                  "set it to the address of the machine on which rank 0 runs");
  auto port = number_variable("MASTER_PORT", 1, kMaxPort);
  if (!port) port = port_of_job(launcher);
  HEARTH_CHECK_AS(ValueError, port,
                  "the environment variable MASTER_PORT is expected, but not set; "
                  "set it to a free port of the machine on which rank 0 runs");
  found.host = *host;
  found.port = *port;
}

/// Takes rank and world_size from the query of a URL: "rank=0&world_size=2".
void read_query(const std::string& method, std::string_view query, Rendezvous& found) {
  while (!query.empty()) {
    const std::string_view item = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), item.size() + 1));
    const size_t equals = item.find('=');
    const std::string name(item.substr(0, equals));
    const std::string value(equals == item.npos ? "" : item.substr(equals + 1));
    const bool is_rank = name == "rank";
    HEARTH_CHECK_AS(ValueError, is_rank || name == "world_size", "init_method '", method, "': '",
                    name, "' is unknown; rank and world_size are allowed");
    int& slot = is_rank ? found.rank : found.world_size;
    const int number = parse_number(detail::str("init_method '", method, "': ", name), value,
                                    is_rank ? 0 : 1, kMaxRanks);
    HEARTH_CHECK_AS(ValueError, slot < 0 || slot == number, "init_method '", method, "' has ", name,
                    " ", number, ", but the option ", name, " is ", slot);
    slot = number;
  }
}

/// Splits "host:port", also "[::1]:29500".
void read_address(const std::string& method, std::string address, Rendezvous& found) {
  const size_t colon = address.rfind(':');
  const bool is_bracketed = address.starts_with('[');
  const bool is_host =
      is_bracketed ? address.find(']') + 1 == colon && colon > 2 : address.find(':') == colon;
  HEARTH_CHECK_AS(
      ValueError, colon != std::string::npos && colon > 0 && is_host, "init_method '", method,
      "' must have the form tcp://host:port?rank=0&world_size=2; an IPv6 address stands in "
      "brackets");
  found.port = parse_number(detail::str("init_method '", method, "': the port"),
                            address.substr(colon + 1), 1, kMaxPort);
  found.host = address.substr(0, colon);
  if (is_bracketed) found.host = found.host.substr(1, found.host.size() - 2);
}

}  // namespace

std::string first_host(const std::string& nodelist) {
  std::string host;
  for (size_t i = 0; i < nodelist.size() && nodelist[i] != ','; ++i) {
    if (nodelist[i] != '[') {
      host += nodelist[i];
      continue;
    }
    const size_t close = nodelist.find(']', i);
    HEARTH_CHECK_AS(ValueError, close != std::string::npos,
                    "the environment variable SLURM_JOB_NODELIST is '", nodelist,
                    "', which lacks a ]; set MASTER_ADDR");
    host += nodelist.substr(i + 1, nodelist.find_first_of(",-]", i) - i - 1);
    i = close;
  }
  return host;
}

Rendezvous find_rendezvous(const std::string& method, int rank, int world_size) {
  Rendezvous found;
  found.rank = rank;
  found.world_size = world_size;
  const size_t colon = method.find("://");
  const std::string scheme = method.substr(0, colon);
  if (method.empty() || method == "env://") {
    read_environment(found);
  } else {
    HEARTH_CHECK_AS(ValueError, colon != std::string::npos && (scheme == "tcp" || scheme == "file"),
                    "init_method '", method,
                    "' is unknown; use env://, tcp://host:port or "
                    "file:///path");
    const std::string rest = method.substr(colon + 3);
    const size_t question = std::min(rest.find('?'), rest.size());
    if (question < rest.size())
      read_query(method, std::string_view(rest).substr(question + 1), found);
    ask_launcher(found);
    if (scheme == "tcp")
      read_address(method, rest.substr(0, question), found);
    else
      found.file = rest.substr(0, question);
    HEARTH_CHECK_AS(ValueError, found.rank >= 0 && found.world_size >= 0, "init_method '", method,
                    "' needs ?rank=0&world_size=2, or the options rank and world_size");
    HEARTH_CHECK_AS(ValueError, scheme == "tcp" || !found.file.empty(), "init_method '", method,
                    "' lacks the path of a file");
  }
  check_rank(found);
  return found;
}

std::string get_launch_id() { return text_variable("HEARTH_LAUNCH_ID").value_or(""); }

std::optional<int> get_launched_round() {
  return number_variable("HEARTH_RDZV_ROUND", 0, std::numeric_limits<int>::max());
}

int get_launched_world_size() {
  for (const Launcher& launcher : kLaunchers) {
    const bool is_started = std::ranges::any_of(
        launcher.signs, [](const char* sign) { return sign && text_variable(sign); });
    if (!is_started) continue;
    Rendezvous found;
    ask_launcher(found);
    check_rank(found);
    return found.world_size;
  }
  return 1;
}

int get_node_local_rank() {
  for (const Launcher& launcher : kLaunchers)
    if (const auto rank = number_variable(launcher.local_rank, 0, kMaxRanks)) return *rank;
  return 0;
}

}  // namespace hearth::distributed
