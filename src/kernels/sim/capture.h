#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "seam/activity.h"

namespace hearth::sim {

class Stream;

/// Work of one or several streams that is recorded instead of run, and afterwards the graph. A
/// stream joins when it waits for an event that was recorded in the capture. The recorded order
/// respects all events, so replays run the work in one stream.
class Capture {
 public:
  struct Node {
    DeviceActivity activity;
    std::function<void()> work;
  };
  /// For each stream, the number of its nodes' last one before a point in the capture.
  using Point = std::map<const Stream*, size_t>;

  Capture(const Stream& origin, int device) : origin_(origin), device_(device) {}

  int device() const { return device_; }
  bool began_on(const Stream& stream) const { return &stream == &origin_; }
  void add(const Stream& stream, DeviceActivity activity, std::function<void()> work);
  /// The end of the stream's work so far, and the same of the streams that it has waited for.
  Point point_of(const Stream& stream);
  /// The stream's later work follows the point.
  void wait(const Stream& stream, const Point& point);
  /// Makes the capture fail; CUDA does so with the first forbidden call.
  void invalidate();
  /// Ends the recording; throws if it has failed or if the origin has not waited for all streams.
  void end();
  bool has_ended();
  const std::vector<Node>& nodes() const { return nodes_; }  // after end()

 private:
  bool is_joined();

  const Stream& origin_;
  const int device_;
  std::mutex mutex_;
  std::vector<Node> nodes_;
  std::map<const Stream*, Point> seen_;  // what each stream has waited for
  bool is_invalid_ = false, has_ended_ = false;
};

}  // namespace hearth::sim
