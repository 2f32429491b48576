#pragma once

#include <vector>

#include "hearth/distributed/process_group.h"

namespace hearth::distributed {

/// Divides tensors, in their order, into groups of one dtype and device each. A group is complete
/// when it has at least `limit` bytes, the first one of each dtype and device at `first_limit`.
/// Returns the tensors' indices by group; the groups, also incomplete ones, are in the order of
/// their last tensors.
std::vector<std::vector<size_t>> group_by_size(const std::vector<Tensor>& tensors,
                                               int64_t first_limit, int64_t limit);

/// Copies the tensors of rank `root` of the group to all ranks, in few large broadcasts.
void broadcast_coalesced(ProcessGroup& group, const std::vector<Tensor>& tensors, int root);

}  // namespace hearth::distributed
