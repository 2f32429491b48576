#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "distributed/backend.h"
#include "distributed/call_info.h"
#include "hearth/cuda.h"
#include "hearth/distributed/work.h"

namespace hearth::distributed {

/// The state that a Work shares with the thread that runs it.
struct Work::State {
  /// Remembers the tensors' GPU and the point in its current stream after which they may be used.
  void remember_device(const std::vector<Tensor>& tensors);
  /// Runs f between the tensors' earlier and later uses on the GPU.
  void run_in_order(const std::function<void()>& f);
  void finish(std::exception_ptr failure);

  CallInfo call;
  milliseconds timeout{0};
  std::vector<Tensor> inputs, outputs;
  std::function<void(Backend&, const BackendCall&)> body;  // of a collective

  std::optional<cuda::Stream> stream;  // on which data moves between GPU and host
  std::optional<cuda::Event> ready, done;

  mutable std::mutex mutex;
  std::condition_variable ended;
  std::atomic<bool> is_completed{false};
  std::exception_ptr error;
  int source_rank = -1;
  std::vector<std::function<void(Work&)>> hooks;
};

}  // namespace hearth::distributed
