#pragma once

#include "hearth/distributed/process_group.h"
#include "hearth/shards.h"

namespace hearth::distributed {

/// The ranks of a process group (null: the default group) as owners of shards; one object per
/// group.
ShardRanksPtr shard_ranks(const ProcessGroupPtr& group);

}  // namespace hearth::distributed
