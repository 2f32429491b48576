#pragma once

#include <cstddef>
#include <functional>
#include <mutex>

#include "hearth/export.h"
#include "hearth/owned_ptr.h"

namespace hearth::data::detail {

/// Worker threads. Parallel loops inside them run serially.
class HEARTH_API Threads {
 public:
  Threads();
  ~Threads();  ///< joins
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// Runs body(0) to body(count - 1), which must not throw. If a thread cannot be created, calls
  /// stop, which must end the running ones, and throws.
  void start(size_t count, const std::function<void(size_t)>& body,
             const std::function<void()>& stop);
  void join();                 ///< no effect in a forked process, which does not have the threads
  bool are_of_parent() const;  ///< whether this process was forked after the construction

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

/// A std::condition_variable, without its heavy header.
class HEARTH_API Condition {
 public:
  Condition();
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// May wake up spuriously.
  void wait(std::unique_lock<std::mutex>& lock);
  void notify_all() noexcept;

 private:
  struct State;
  hearth::detail::OwnedPtr<State> state_;
};

}  // namespace hearth::data::detail
