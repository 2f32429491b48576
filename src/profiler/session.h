#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/backends.h"
#include "profiler/buffer.h"
#include "profiler/ticks.h"

namespace hearth::profiler {

/// Selects the data that a session records.
struct SessionOptions {
  bool cpu = true;
  bool shapes = false, memory = false, flops = false, modules = false;
  bool has_details() const { return shapes || memory || flops; }
};

/// One recording. Each thread joins it when it runs its next op or range.
struct Session {
  Session(const SessionOptions& session_options, Backend* backend)
      : options(session_options), gpus(backend) {}
  const SessionOptions options;
  Backend* const gpus;  // null: their work is not recorded
  Moment begin, end;
  uint64_t kept_from = 0;  // in ticks: earlier events are dropped
  std::mutex mutex;        // guards the lists while the session runs
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<DeviceActivity> activities;
  std::vector<std::string> warnings;  // for the user: of the backend, at the start and at the end
};

/// Passes the activities of devices to the running session; without one, they are dropped.
ActivitySink& device_sink();

// Neither start_session nor end_session calls a sink of warnings, which may throw or use the
// profiler.

/// Starts a session, which this thread joins at once; null `gpus`: without their work. Throws if
/// another session runs.
std::shared_ptr<Session> start_session(const SessionOptions& options, Backend* gpus);
/// Ends the session and waits for the devices. A thread that is writing an event at this moment may
/// still complete it. Returns the first error, such as that of a kernel, or null.
std::exception_ptr end_session(const std::shared_ptr<Session>& session);

}  // namespace hearth::profiler
