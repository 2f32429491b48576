#pragma once

#include "core/arguments.h"
#include "core/modes.h"
#include "core/op.h"

namespace hearth {

/// A call as those see it who look on: profiler, tracer, exporter.
struct ObservedCall {
  const OpRecord& op;
  const void* args;
  Inputs inputs;
  const Outputs& outputs;  // empty at begin (but for in-place and out= targets) and after a failure
  Arguments arguments() const { return op.arguments(args); }
  /// Whether the call writes to input i besides its outputs.
  bool mutates(int i) const { return writes_to_input(op, args, inputs, i); }
};

/// Sees every op and every composed op of a thread, from outside in.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(const ObservedCall& call) = 0;
  /// Always follows begin; comes for the inner calls first.
  virtual void end(const ObservedCall& call) = 0;
};

/// While one lives, `observer` sees the calls of this thread.
class ObserverGuard {
 public:
  explicit ObserverGuard(Observer& observer) {
    modes.observer = &observer;
    modes.flags |= kObserved;
  }

 private:
  ModesGuard saved_;
};

/// One observed call: begin now, end when it goes.
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
