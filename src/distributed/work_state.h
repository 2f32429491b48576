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
  /// Lets the work run on a stream, after the work that is now on the GPU's current stream.
  void use_stream(const cuda::Stream& stream);
  /// Runs f between the tensors' earlier and later uses on the GPU.
  void run_in_order(const std::function<void()>& f);
  BackendCall backend_call(uint32_t tag) const {
    return {tag, timeout, stream ? &*stream : nullptr};
  }
  /// Marks the call as being on the stream, so that other streams can wait for it.
  void note_enqueued();
  /// Marks the call as ended, and calls the hooks.
  void finish(std::exception_ptr failure);
  /// Calls a hook; an exception becomes a warning.
  void call_hook(const std::function<void(Work&)>& hook, Work& work) const;
  bool can_be_used() const { return is_completed || is_enqueued; }
  /// Waits for the end of a short call, giving way to other threads. A thread that sleeps is woken
  /// slowly, and often on the processor of another rank, which then computes more slowly.
  void wait_awake(milliseconds longest) const;

  CallInfo call;
  milliseconds timeout{0};
  std::vector<Tensor> inputs, outputs;
  std::function<void(Backend&, const BackendCall&)> body;  // of a collective

  std::optional<cuda::Stream> stream;      // on which the call, or its copies to the host, run
  std::optional<cuda::Event> ready, done;  // its tensors can be read; it has ended

  mutable std::mutex mutex;
  std::condition_variable ended;
  std::atomic<bool> is_completed{false};
  std::atomic<bool> is_enqueued{false};
  std::exception_ptr error;
  std::atomic<int> source_rank{-1};
  std::vector<std::function<void(Work&)>> hooks;
};

}  // namespace hearth::distributed
