#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace hearth::app {

/// Calls functions when files can be read or written.
class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;

  /// Calls the function whenever one of these events of poll() occurs. If `can_wait`, the file is
  /// not watched while the gate (set_gate) is closed.
  void watch(int file, short events, std::function<void()> on_ready, bool can_wait = false);
  void forget(int file);
  /// The gate is open while this function returns true.
  void set_gate(std::function<bool()> is_open) { is_open_ = std::move(is_open); }
  bool is_open() const { return is_open_(); }
  /// Waits for at least one event, at most until this time, and calls the functions.
  void run_once(std::optional<Clock::time_point> until = {});

 private:
  using Function = std::function<void()>;
  struct Watch {
    short events;
    std::shared_ptr<const Function> on_ready;
    bool can_wait;
  };
  std::map<int, Watch> watches_;
  std::function<bool()> is_open_ = [] { return true; };
};

}  // namespace hearth::app
