#pragma once

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

/// A profiler, tracer or exporter. It receives every call of an op or composed op on a thread,
/// outer calls before the calls inside them.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(const ObservedCall& call) = 0;
  /// Called once after each begin, for inner calls first.
  virtual void end(const ObservedCall& call) = 0;
};

/// Installs an observer for the calls of this thread until the guard is destroyed.
class ObserverGuard {
 public:
  explicit ObserverGuard(Observer& observer) {
    modes.observer = &observer;
    modes.flags |= kObserved;
  }

 private:
  ModesGuard saved_;
};

/// One observed call: the constructor calls Observer::begin, the destructor end.
class Observation {
 public:
  explicit Observation(const ObservedCall& call) : call_(call), observer_(*modes.observer) {
    observer_.begin(call_);
  }
  ~Observation() { observer_.end(call_); }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

 private:
  ObservedCall call_;
  Observer& observer_;
};

}  // namespace hearth
