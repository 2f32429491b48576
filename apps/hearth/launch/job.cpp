#include "job.h"

#include <unistd.h>

#include <cstdlib>

namespace hearth::app {

namespace {

constexpr const char* kThreads = "OMP_NUM_THREADS";

/// The variables that Hearth sets for a rank of this job.
std::map<std::string, std::string> own_variables(const NodeJob& job, int local_rank) {
  std::map<std::string, std::string> values{
      {"RANK", std::to_string(job.first_rank + local_rank)},
      {"WORLD_SIZE", std::to_string(job.world_size)},
      {"LOCAL_RANK", std::to_string(local_rank)},
      {"LOCAL_WORLD_SIZE", std::to_string(job.local_size)},
      {"GROUP_RANK", std::to_string(job.node)},
      {"GROUP_WORLD_SIZE", std::to_string(job.nodes)},
      {"MASTER_ADDR", job.master_addr},
      {"MASTER_PORT", std::to_string(job.master_port)},
      {"HEARTH_RESTART_COUNT", std::to_string(job.restart)},
      {"HEARTH_MAX_RESTARTS", std::to_string(job.max_restarts)},
      {"HEARTH_RDZV_TOKEN", job.token},
      // For programs that use PyTorch.
      {"ROLE_NAME", "default"},
      {"ROLE_RANK", std::to_string(job.first_rank + local_rank)},
      {"ROLE_WORLD_SIZE", std::to_string(job.world_size)},
      {"TORCHELASTIC_RUN_ID", job.run_id},
      {"TORCHELASTIC_RESTART_COUNT", std::to_string(job.restart)},
      {"TORCHELASTIC_MAX_RESTARTS", std::to_string(job.max_restarts)}};
  if (job.token.empty()) values.erase("HEARTH_RDZV_TOKEN");
  if (!job.launch_id.empty()) values["HEARTH_LAUNCH_ID"] = job.launch_id;
  if (job.has_common_restarts) values["HEARTH_RDZV_ROUND"] = std::to_string(job.restart);
  if (!job.node_range.empty()) values["HEARTH_NNODES"] = job.node_range;
  if (limits_threads(job)) values[kThreads] = "1";
  return values;
}

}  // namespace

const std::vector<std::string>& rank_variables() {
  static const std::vector<std::string> names = [] {
    NodeJob job;
    job.token = job.launch_id = job.node_range = "set";  // or their variables would be left out
    std::vector<std::string> found;
    for (const auto& [name, value] : own_variables(job, 0)) found.push_back(name);
    return found;
  }();
  return names;
}

std::vector<std::string> rank_environment(const NodeJob& job, int local_rank) {
  std::map<std::string, std::string> values = own_variables(job, local_rank);
  values.insert(job.environment.begin(), job.environment.end());
  std::vector<std::string> environment;
  for (const auto& [name, value] : values) environment.push_back(name + "=" + value);
  // The variables of a launcher that started this one are not for this job.
  for (const std::string& name : rank_variables()) values.try_emplace(name);
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!values.count(text.substr(0, text.find('=')))) environment.push_back(text);
  }
  return environment;
}

bool limits_threads(const NodeJob& job) {
  return job.local_size > 1 && !std::getenv(kThreads) && !job.environment.count(kThreads);
}

}  // namespace hearth::app
