#pragma once

#include <atomic>
#include <thread>

namespace hearth {

/// A lock for short critical sections with little contention: one atomic exchange to acquire, one
/// store to release. Use with std::lock_guard.
class SpinLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_ = false;
};

}  // namespace hearth
