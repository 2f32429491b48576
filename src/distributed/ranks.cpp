// Facts about groups and the launch, and the creation of several subgroups at once.

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "distributed/world.h"

namespace hearth::distributed {

void check_disjoint(const std::vector<std::vector<int>>& parts) {
  std::set<int> known;
  for (const std::vector<int>& ranks : parts)
    for (const int rank : ranks)
      HEARTH_CHECK_AS(ValueError, known.insert(rank).second, "Rank ", rank,
                      " has appeared twice in the subgroups");
}

Subgroups new_subgroups_by_enumeration(const std::vector<std::vector<int>>& ranks_per_subgroup_list,
                                       std::optional<std::chrono::milliseconds> timeout,
                                       const std::string& backend) {
  HEARTH_CHECK_AS(ValueError, !ranks_per_subgroup_list.empty(),
                  "The arg 'ranks_per_subgroup_list' cannot be empty");
  for (const std::vector<int>& ranks : ranks_per_subgroup_list)
    HEARTH_CHECK_AS(ValueError, !ranks.empty(), "new_subgroups_by_enumeration: a group is empty");
  check_disjoint(ranks_per_subgroup_list);
  Subgroups groups;
  for (const std::vector<int>& ranks : ranks_per_subgroup_list) {
    const ProcessGroupPtr& group = groups.second.emplace_back(new_group(ranks, timeout, backend));
    if (group->communicator()) groups.first = group;
  }
  return groups;
}

Subgroups new_subgroups(int group_size, std::optional<std::chrono::milliseconds> timeout,
                        const std::string& backend) {
  const int size = get_world_size();
  HEARTH_CHECK_AS(ValueError, group_size > 0, "The arg 'group_size' (", group_size,
                  ") must be positive");
  HEARTH_CHECK_AS(ValueError, group_size <= size, "The arg 'group_size' (", group_size,
                  ") must not exceed the world size (", size, ")");
  HEARTH_CHECK_AS(ValueError, size % group_size == 0, "The world size (", size,
                  ") must be divisible by 'group_size=", group_size, "'");
  std::vector<std::vector<int>> parts;
  for (int first = 0; first < size; first += group_size) {
    std::vector<int>& part = parts.emplace_back(static_cast<size_t>(group_size));
    std::iota(part.begin(), part.end(), first);
  }
  return new_subgroups_by_enumeration(parts, timeout, backend);
}

bool is_backend_available(const std::string& backend) {
  return (backend == "gloo" && is_gloo_available()) || (backend == "nccl" && is_nccl_available());
}

bool is_torchelastic_launched() { return std::getenv("TORCHELASTIC_RUN_ID") != nullptr; }

int get_rank(const ProcessGroupPtr& group) { return resolve(group)->getRank(); }
int get_world_size(const ProcessGroupPtr& group) { return resolve(group)->getSize(); }
std::string get_backend(const ProcessGroupPtr& group) { return resolve(group)->getBackendName(); }

std::vector<int> get_process_group_ranks(const ProcessGroupPtr& group) {
  const ProcessGroupPtr resolved = resolve(group);
  const Communicator* const communicator = resolved->communicator();
  return communicator ? communicator->options().global_ranks : std::vector<int>();
}

int get_global_rank(const ProcessGroupPtr& group, int group_rank) {
  const std::vector<int> ranks = get_process_group_ranks(group);
  HEARTH_CHECK_AS(ValueError, 0 <= group_rank && group_rank < static_cast<int>(ranks.size()),
                  "Group rank ", group_rank, " is not part of the group");
  return ranks[static_cast<size_t>(group_rank)];
}

int get_group_rank(const ProcessGroupPtr& group, int global_rank) {
  const std::vector<int> ranks = get_process_group_ranks(group);
  const auto found = std::find(ranks.begin(), ranks.end(), global_rank);
  HEARTH_CHECK_AS(ValueError, found != ranks.end(), "Global rank ", global_rank,
                  " is not part of the group");
  return static_cast<int>(found - ranks.begin());
}

}  // namespace hearth::distributed
