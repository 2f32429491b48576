#pragma once

#include "distributed/communicator.h"
#include "hearth/distributed/collectives.h"

namespace hearth::distributed {

/// Begins transfers together; their peers are ranks of the group.
WorkPtr begin_transfers(Communicator& group, const std::vector<P2POp>& transfers);

}  // namespace hearth::distributed
