#pragma once

#include <nccl.h>

#include <string>

#define HEARTH_NCCL_FUNCTIONS(X) \
  X(ncclGetVersion)              \
  X(ncclGetUniqueId)             \
  X(ncclCommInitRankConfig)      \
  X(ncclCommFinalize)            \
  X(ncclCommDestroy)             \
  X(ncclCommAbort)               \
  X(ncclCommGetAsyncError)       \
  X(ncclGetErrorString)          \
  X(ncclGetLastError)            \
  X(ncclAllReduce)               \
  X(ncclReduce)                  \
  X(ncclReduceScatter)           \
  X(ncclBroadcast)               \
  X(ncclAllGather)               \
  X(ncclSend)                    \
  X(ncclRecv)                    \
  X(ncclGroupStart)              \
  X(ncclGroupEnd)

namespace hearth::distributed {

/// NCCL's functions, from the library that is opened at run time.
struct NcclLibrary {
#define HEARTH_NCCL_MEMBER(name) decltype(&::name) name = nullptr;
  HEARTH_NCCL_FUNCTIONS(HEARTH_NCCL_MEMBER)
#undef HEARTH_NCCL_MEMBER
  std::string problem;  // why it cannot be used, or empty
};

/// The opened library, which may have a problem.
const NcclLibrary& find_nccl();
/// The library; throws DistBackendError if it cannot be used.
const NcclLibrary& nccl();

/// Whether NCCL has accepted a call, which it may still be working on.
inline bool is_accepted(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}
/// Throws DistBackendError, with NCCL's explanation, unless the call was accepted.
void check_nccl(ncclResult_t result, const char* call, ncclComm_t comm);

}  // namespace hearth::distributed
