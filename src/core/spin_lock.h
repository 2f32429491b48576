#pragma once

#include <atomic>
#include <thread>

namespace hearth {

/// A lock for short critical sections with little contention: one atomic exchange to acquire, one
/// store to release. Use with std::lock_guard.
class SpinLock {
 public:
  void lock() {
    while (is_locked_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { is_locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_locked_ = false;
};

}  // namespace hearth
