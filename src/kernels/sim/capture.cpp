// Captures of simulated streams. The texts of the errors are CUDA's.
#include "kernels/sim/capture.h"

#include <algorithm>

#include "hearth/error.h"

namespace hearth::sim {

void Capture::add(const Stream& stream, DeviceActivity activity, std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  nodes_.push_back({activity, std::move(work)});
  seen_[&stream][&stream] = nodes_.size();
}

Capture::Point Capture::point_of(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  return seen_[&stream];
}

void Capture::wait(const Stream& stream, const Point& point) {
  const std::lock_guard lock(mutex_);
  Point& seen = seen_[&stream];
  for (const auto& [other, node] : point) seen[other] = std::max(seen[other], node);
}

void Capture::invalidate() {
  const std::lock_guard lock(mutex_);
  is_invalid_ = true;
}

bool Capture::is_joined() {
  Point& joined = seen_[&origin_];
  return std::ranges::all_of(seen_, [&](const auto& entry) {
    const auto last = entry.second.find(entry.first);
    return last == entry.second.end() || joined[entry.first] >= last->second;
  });
}

void Capture::end() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  HEARTH_CHECK(!is_invalid_, "CUDA error: operation failed due to a previous error during capture");
  HEARTH_CHECK(is_joined(),
               "CUDA error: capturing stream has unjoined work: the stream on which the capture "
               "began has to wait for all streams that waited for its events");
}

bool Capture::has_ended() {
  const std::lock_guard lock(mutex_);
  return has_ended_;
}

}  // namespace hearth::sim
