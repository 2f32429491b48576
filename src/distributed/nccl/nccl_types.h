#pragma once

#include <nccl.h>

#include "hearth/distributed/types.h"

namespace hearth::distributed {

/// How NCCL combines elements.
struct NcclReduction {
  ncclDataType_t dtype;
  ncclRedOp_t op;
};

/// Throws a TypeError or ValueError if NCCL does not have the dtype or the reduction.
NcclReduction nccl_reduction(ReduceOp op, ScalarType dtype);

}  // namespace hearth::distributed
