#pragma once

#include <functional>
#include <mutex>

#include "distributed/deadline.h"
#include "distributed/nccl/library.h"

namespace hearth::distributed {

/// A communicator of NCCL in its non-blocking mode: a thread that waits for NCCL notices abort()
/// and its time-out, whatever the other ranks do.
class NcclComm {
 public:
  using Call = std::function<ncclResult_t(ncclComm_t)>;

  /// Connects the ranks; all must call this. The communicator uses the current device. `interrupt`
  /// is called every few milliseconds, and throws to end the wait.
  NcclComm(const ncclUniqueId& id, int rank, int size, milliseconds timeout,
           const std::function<void()>& interrupt);
  ~NcclComm();
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;

  /// Makes a call, whose name errors show, and waits until NCCL has put it on its stream.
  void run(const char* name, milliseconds timeout, const Call& call);
  /// The same for several calls between ncclGroupStart and ncclGroupEnd, which begin together.
  void run_grouped(const char* name, milliseconds timeout, const Call& calls);

  void check() { is_ready("a call on the GPU"); }  ///< throws if a call has failed on its stream
  void abort() noexcept;

 private:
  ncclComm_t handle();  // call it with mutex_ locked
  bool is_ready(const char* name);
  void check_deadline(const char* name, Deadline deadline) const;

  std::mutex calls_;  // one call at a time
  std::mutex mutex_;  // of the member below; held for a moment only
  ncclComm_t comm_ = nullptr;
};

}  // namespace hearth::distributed
