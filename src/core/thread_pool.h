#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>

namespace hearth {

/// One parallel loop, on its caller's stack. Each thread takes the chunks of its own share first,
/// the same ones in every loop of that shape, so that caches stay warm; then those that are left of
/// others' shares.
class ParallelLoop {
 public:
  /// Runs chunk `index`; `slot` is below the number of threads, and no two threads of a loop share
  /// one.
  using Body = void (*)(const void* f, int64_t index, int slot);

  /// `slots`: the threads that may take part, the caller's being slot 0.
  ParallelLoop(int64_t chunks, int slots, Body body, const void* f);

  /// Takes chunks until none is left.
  void take_chunks(int slot) noexcept;
  bool exhausted() const { return exhausted_.load(std::memory_order_relaxed); }
  int slots() const { return slots_; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  friend class ThreadPool;

  /// The chunks of one slot that nobody has taken yet.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  static constexpr int kFewSlots = 16;

  void take_share(Share& share, int slot) noexcept;

  const int slots_;
  const Body body_;
  const void* const f_;
  Share few_[kFewSlots];
  std::unique_ptr<Share[]> many_;
  Share* shares_;
  std::atomic<bool> exhausted_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;

  // The pool's; all but inside_ guarded by its mutex.
  bool open_ = false;           // helpers may join
  std::atomic<int> inside_{0};  // helpers that have not left yet
  ParallelLoop* before_ = nullptr;
  ParallelLoop* after_ = nullptr;
};

namespace thread_pool {

/// Runs the loop on the caller and on threads of the process's pool. The caller takes chunks itself
/// and waits only for helpers that are inside a chunk, never for one that has not begun.
void run(ParallelLoop& loop);

}  // namespace thread_pool

}  // namespace hearth
