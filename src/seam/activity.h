#pragma once

#include <chrono>
#include <cstdint>

#include "seam/ctx.h"

namespace hearth {

/// A kernel, copy or fill that a device's stream has run.
struct DeviceActivity {
  enum class Kind : uint8_t { kKernel, kCopy, kFill };
  using Clock = std::chrono::steady_clock;
  Kind kind = Kind::kKernel;
  const char* name = "";  // exists until the process ends
  int device = 0;
  const void* stream = nullptr;  // identifies the stream
  Clock::time_point start, end;
  uint64_t event = 0;  // the number from ActivitySink::current_event()
  size_t bytes = 0;    // of copies and fills
};

/// A recorder of the activities of a backend's devices; its functions may be called on any thread.
class ActivitySink {
 public:
  virtual ~ActivitySink() = default;
  /// Called on the host's thread that launches an activity. Returns the number of the host's event
  /// that launches it, or 0.
  virtual uint64_t current_event() = 0;
  virtual void add(const DeviceActivity& activity) = 0;
};

}  // namespace hearth
