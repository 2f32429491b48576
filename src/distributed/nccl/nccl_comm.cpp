#include "distributed/nccl/nccl_comm.h"

#include <thread>

#include "hearth/error.h"

namespace hearth::distributed {

NcclComm::NcclComm(const ncclUniqueId& id, int rank, int size, milliseconds timeout,
                   const std::function<void()>& interrupt) {
  constexpr const char* kName = "ncclCommInitRankConfig";
  constexpr milliseconds kPause{10};
  const Deadline deadline = Deadline::after(timeout);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  try {
    check_nccl(nccl().ncclCommInitRankConfig(&comm_, size, id, rank, &config), kName, comm_);
    while (!is_ready(kName)) {
      interrupt();
      check_deadline(kName, deadline);
      std::this_thread::sleep_for(kPause);
    }
  } catch (...) {
    abort();
    throw;
  }
}

NcclComm::~NcclComm() {
  constexpr milliseconds kPatience{2000};
  if (!comm_) return;
  try {
    run("ncclCommFinalize", kPatience, nccl().ncclCommFinalize);
    nccl().ncclCommDestroy(comm_);
  } catch (const std::exception&) {
    abort();  // for example, another rank has ended
  }
}

ncclComm_t NcclComm::handle() {
  HEARTH_CHECK_AS(DistBackendError, comm_, "the call was aborted");
  return comm_;
}

void NcclComm::run(const char* name, milliseconds timeout, const Call& call) {
  constexpr std::chrono::microseconds kPause{100};
  constexpr int kRoundsAwake = 1000;  // NCCL is usually ready at once
  const Deadline deadline = Deadline::after(timeout);
  const std::lock_guard one(calls_);
  {
    const std::lock_guard lock(mutex_);
    check_nccl(call(handle()), name, comm_);
  }
  for (int round = 0; !is_ready(name); ++round) {
    check_deadline(name, deadline);
    if (round < kRoundsAwake)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kPause);
  }
}

void NcclComm::run_grouped(const char* name, milliseconds timeout, const Call& calls) {
  run(name, timeout, [&](ncclComm_t comm) {
    const ncclResult_t start = nccl().ncclGroupStart();
    if (!is_accepted(start)) return start;
    const ncclResult_t result = calls(comm);
    const ncclResult_t end = nccl().ncclGroupEnd();  // also after an error
    return is_accepted(result) ? end : result;
  });
}

/// Whether NCCL has done its part of the last call; throws if it has failed.
bool NcclComm::is_ready(const char* name) {
  const std::lock_guard lock(mutex_);
  ncclResult_t state = ncclSuccess;
  check_nccl(nccl().ncclCommGetAsyncError(handle(), &state), "ncclCommGetAsyncError", comm_);
  check_nccl(state, name, comm_);
  return state == ncclSuccess;
}

void NcclComm::check_deadline(const char* name, Deadline deadline) const {
  HEARTH_CHECK_AS(DistBackendError, !deadline.has_passed(), "NCCL: ", name,
                  ": the time-out has passed; perhaps not all ranks have made this call");
}

void NcclComm::abort() noexcept {
  const std::lock_guard lock(mutex_);
  if (comm_) nccl().ncclCommAbort(comm_);
  comm_ = nullptr;
}

}  // namespace hearth::distributed
