#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/arguments.h"
#include "core/modes.h"
#include "core/op.h"

namespace hearth {

/// An op call, as passed to observers.
struct ObservedCall {
  const OpRecord& op;
  const void* args;
  Inputs inputs;
  const Outputs& outputs;  // at begin only in-place and out= targets; empty after a failure
  Arguments arguments() const { return op.arguments(args); }
  /// Whether the call writes to input i, in addition to its outputs.
  bool mutates(int i) const { return writes_to_input(op, args, inputs, i); }
};

/// A period of this thread's work that is not an op call.
struct ObservedRange {
  enum class Kind : uint8_t { kUser, kModule, kBackward };
  Kind kind;
  const void* key;               // identifies the range at its end
  std::string_view name;         // valid only during begin_range; empty if `op` names the range
  const OpRecord* op = nullptr;  // of a backward node: the forward op
  uint64_t sequence_nr = 0;      // of a backward node
};

/// A profiler, tracer or exporter. It receives every call of an op or composed op on a thread,
/// outer calls before the calls inside them.
class Observer {
 public:
  Observer() = default;
  virtual ~Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  virtual void begin(const ObservedCall& call) = 0;
  /// Called once after each begin, for inner calls first.
  virtual void end(const ObservedCall& call) = 0;
  /// Ranges may begin before the observer is installed, or end after it was removed.
  virtual void begin_range(const ObservedRange&) {}
  virtual void end_range(const void* /*key*/) {}

  /// Installs the observer on this thread, in addition to its other observers, until the thread's
  /// modes are restored or remove() is called. An observer can be installed only once at a time.
  void install() {
    outer_ = modes.observer;
    modes.observer = this;
    modes.flags |= kObserved;
  }
  /// Removes the observer from this thread; does nothing if it is not installed.
  void remove();
  bool is_installed() const {
    for (const Observer* each = modes.observer; each; each = each->outer_)
      if (each == this) return true;
    return false;
  }
  /// The observer that was installed before this one.
  Observer* outer() const { return outer_; }

 private:
  Observer* outer_ = nullptr;
};

/// Installs an observer for the calls of this thread until the guard is destroyed.
class ObserverGuard {
 public:
  explicit ObserverGuard(Observer& observer) { observer.install(); }

 private:
  ModesGuard saved_;
};

/// A function that returns the observer for the calling thread. It is set while a profiler observes
/// all threads that take over another thread's modes (ThreadLocalStateGuard), else null.
inline constinit std::atomic<Observer* (*)()> observer_of_thread{nullptr};

/// One observed call: the constructor calls Observer::begin, the destructor end.
class Observation {
 public:
  explicit Observation(const ObservedCall& call) : call_(call), observers_(modes.observer) {
    for (Observer* each = observers_; each; each = each->outer()) each->begin(call_);
  }
  ~Observation() {
    for (Observer* each = observers_; each; each = each->outer()) each->end(call_);
  }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

 private:
  ObservedCall call_;
  Observer* observers_;
};

/// Tells this thread's observers that a range begins or ends.
void begin_observed_range(const ObservedRange& range);
void end_observed_range(const void* key);

}  // namespace hearth
