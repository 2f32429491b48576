#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace hearth::nn::parallel::detail {

class KeptThread;

/// A call of work(i) in another thread. Threads are kept for later calls, because starting one
/// takes as long as many kernels' launches.
class ThreadCall {
 public:
  /// Starts the call; `work` must exist until it has ended.
  ThreadCall(const std::function<void(size_t)>& work, size_t i);
  ~ThreadCall();  ///< waits until the call has ended
  ThreadCall(ThreadCall&& other) noexcept : thread_(std::exchange(other.thread_, nullptr)) {}
  ThreadCall& operator=(ThreadCall&&) = delete;

 private:
  KeptThread* thread_;
};

}  // namespace hearth::nn::parallel::detail
