#pragma once

#include <cstddef>
#include <functional>
#include <mutex>

#include "hearth/export.h"
#include "hearth/owned_ptr.h"

namespace hearth::data::detail {

/// Threads that each compute alone.
class HEARTH_API Threads {
 public:
  Threads();
  /// Joins.
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// Runs body(0) to body(count - 1), which must not throw. If the system grants no more threads,
  /// calls stop, so that those already there end, and throws.
  void start(size_t count, const std::function<void(size_t)>& body,
             const std::function<void()>& stop);
  void join();

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

/// A std::condition_variable, whose header is a heavy one.
class HEARTH_API Condition {
 public:
  Condition();
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// May return without cause.
  void wait(std::unique_lock<std::mutex>& lock);
  void notify_all() noexcept;

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

}  // namespace hearth::data::detail
