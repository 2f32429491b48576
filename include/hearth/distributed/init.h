#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/arg.h"
#include "hearth/distributed/process_group.h"

namespace hearth::distributed {

/// Options of init_process_group, with Python's names.
struct InitOptions {
  /// "env://", "tcp://host:port?rank=0&world_size=2" or "file:///path?rank=0&world_size=2".
  HEARTH_ARG(std::string, init_method) = "";
  HEARTH_ARG(std::chrono::milliseconds, timeout) = ProcessGroup::kDefaultTimeout;
  HEARTH_ARG(int, world_size) = -1;           ///< -1: that of init_method or of the environment
  HEARTH_ARG(int, rank) = -1;                 ///< -1: that of init_method or of the environment
  HEARTH_ARG(std::shared_ptr<Store>, store);  ///< in place of init_method
};

/// Connects the processes of a job and creates the default group. Rank, world size and address are
/// those of the options, or of the environment: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as
/// `hearth launch` and torchrun set them, or the variables of Slurm, Open MPI and MPICH.
HEARTH_API void init_process_group(const std::string& backend = "gloo",
                                   const InitOptions& options = {});
/// Waits for the submitted calls of a group and closes it; null or the default group: all groups.
HEARTH_API void destroy_process_group(const ProcessGroupPtr& group = nullptr);

HEARTH_API bool is_available();        ///< whether this build can communicate
HEARTH_API bool is_gloo_available();   ///< whether the Gloo plugin can be loaded
HEARTH_API std::string why_no_gloo();  ///< the reason why not, or empty
HEARTH_API bool is_nccl_available();   ///< whether the NCCL plugin and NCCL can be loaded
HEARTH_API std::string why_no_nccl();  ///< the reason why not, or empty
/// Whether a backend can be used: "gloo", "nccl".
HEARTH_API bool is_backend_available(const std::string& backend);
HEARTH_API bool is_torchelastic_launched();  ///< whether `hearth launch` or torchrun runs this
HEARTH_API bool is_initialized();            ///< whether there is a default group

/// A group of some ranks of the default group (default: all). All processes must call this in the
/// same order; on those that are not in `ranks`, the result has rank -1. Time-out and backend are
/// by default those of the default group.
HEARTH_API ProcessGroupPtr new_group(const std::vector<int>& ranks = {},
                                     std::optional<std::chrono::milliseconds> timeout = {},
                                     const std::string& backend = "");
/// Divides a group (null: the default group). Each list in split_ranks has the members of a new
/// group, by their ranks in the divided group and in the order of their new ranks; no rank occurs
/// twice. All members must call this. Returns the new group of this process; a process in no list
/// gets a group in which its rank is -1. The time-out is by default the divided group's.
HEARTH_API ProcessGroupPtr split_group(const ProcessGroupPtr& parent_pg,
                                       const std::vector<std::vector<int>>& split_ranks,
                                       std::optional<std::chrono::milliseconds> timeout = {});
/// The group of this process (null if it is in none), and all new groups.
using Subgroups = std::pair<ProcessGroupPtr, std::vector<ProcessGroupPtr>>;
/// Groups of group_size successive ranks each. All processes must call this.
HEARTH_API Subgroups new_subgroups(int group_size,
                                   std::optional<std::chrono::milliseconds> timeout = {},
                                   const std::string& backend = "");
/// Groups of the listed ranks, no rank in two of them. All processes must call this.
HEARTH_API Subgroups new_subgroups_by_enumeration(
    const std::vector<std::vector<int>>& ranks_per_subgroup_list,
    std::optional<std::chrono::milliseconds> timeout = {}, const std::string& backend = "");
HEARTH_API ProcessGroupPtr default_group();  ///< throws if there is none

// In these functions, a null group is the default one.
HEARTH_API int get_rank(const ProcessGroupPtr& group = nullptr);
HEARTH_API int get_world_size(const ProcessGroupPtr& group = nullptr);
HEARTH_API std::string get_backend(const ProcessGroupPtr& group = nullptr);
/// The members of a group, by their ranks in the default group.
HEARTH_API std::vector<int> get_process_group_ranks(const ProcessGroupPtr& group = nullptr);
HEARTH_API int get_global_rank(const ProcessGroupPtr& group, int group_rank);
HEARTH_API int get_group_rank(const ProcessGroupPtr& group, int global_rank);
/// The number of this process on its machine, for choosing a GPU: LOCAL_RANK or the corresponding
/// variable of Slurm, Open MPI or MPICH; 0 without any of them.
HEARTH_API int get_node_local_rank();
/// The world size that a launcher or the user has set in the environment; 1 if none is set.
/// Programs that also run alone call init_process_group() if it is above 1.
HEARTH_API int get_launched_world_size();

}  // namespace hearth::distributed
