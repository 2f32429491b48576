#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>

namespace hearth {

/// One parallel loop, on its caller's stack. Each thread first takes the chunks of its own share,
/// the same ones in every loop of the same length, so that its caches stay warm. Then it takes the
/// remaining chunks of other shares.
class ParallelLoop {
 public:
  /// Runs chunk `index`. Each thread of a loop has its own `slot`, below the number of threads.
  using Body = void (*)(const void* functor, int64_t index, int slot);

  /// `slots` is the maximum number of threads; the caller has slot 0.
  ParallelLoop(int64_t chunks, int slots, Body body, const void* functor);

  /// Takes chunks until none is left.
  void take_chunks(int slot) noexcept;
  bool exhausted() const { return exhausted_.load(std::memory_order_relaxed); }
  int slots() const { return slots_; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  friend class ThreadPool;

  /// The chunks of one slot that have not been taken.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  static constexpr int kInlineSlots = 16;

  void take_share(Share& share, int slot) noexcept;

  const int slots_;
  const Body body_;
  const void* const functor_;
  const bool blocks_signals_;  // because the caller does
  Share inline_shares_[kInlineSlots];
  std::unique_ptr<Share[]> heap_shares_;
  Share* shares_;
  std::atomic<bool> exhausted_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;

  // Members for the pool, guarded by its mutex except for num_inside_.
  bool is_open_ = false;            // helpers may join
  std::atomic<int> num_inside_{0};  // the number of helpers that have joined and not left
  ParallelLoop* before_ = nullptr;
  ParallelLoop* after_ = nullptr;
};

namespace thread_pool {

/// Runs the loop on the caller and on threads of the process's pool. At the end, the caller waits
/// only for helpers that have joined the loop, never for one that has yet to wake.
void run(ParallelLoop& loop);

}  // namespace thread_pool

}  // namespace hearth
