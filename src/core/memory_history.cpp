#include "core/memory_history.h"

#include <algorithm>
#include <new>

#include "hearth/error.h"

namespace hearth {

namespace {
constexpr size_t kFirstPoints = 20000;  // room for these is taken at once
}

MemoryHistory::MemoryHistory(Clock::time_point start, size_t max_points)
    : start_(start), max_points_(std::clamp<size_t>(max_points, 2, points_.max_size())) {
  points_.reserve(std::min(max_points_, kFirstPoints));
}

void MemoryHistory::add(const MemoryStats& stats) noexcept {
  Point point;
  point.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  point.total = 0;
  for (size_t i = 0; i < kNumMemoryTags; ++i) point.total += point.bytes[i] = stats.tags[i].current;
  if (point.total >= highest_.total) highest_ = point;
  if (++changes_ == changes_per_point_) finish_point();
}

void MemoryHistory::finish_point() noexcept {
  if (points_.size() == points_.capacity()) grow();
  if (points_.size() == max_points_) halve();
  points_.push_back(highest_);
  highest_ = Point();
  changes_ = 0;
}

/// Makes room for more points; if memory is short, their present number becomes the maximum.
void MemoryHistory::grow() noexcept {
  if (points_.size() == max_points_) return;
  try {
    points_.reserve(points_.size() + std::min(points_.size(), max_points_ - points_.size()));
  } catch (const std::bad_alloc&) {
    max_points_ = points_.size();
  }
}

/// Keeps the higher point of each pair and, if their number is odd, the last point.
void MemoryHistory::halve() noexcept {
  const size_t half = (points_.size() + 1) / 2;
  for (size_t i = 0; i < half; ++i) {
    const Point& first = points_[2 * i];
    const Point& second = points_[std::min(2 * i + 1, points_.size() - 1)];
    points_[i] = first.total > second.total ? first : second;
  }
  points_.resize(half);
  changes_per_point_ *= 2;
}

std::string MemoryHistory::json(const std::string& device) const {
  std::string text = "{\"device\": \"" + device + "\", \"points\": [";
  const auto append = [&](const Point& point) {
    text += text.back() == '[' ? "[" : ", [";
    detail::append(text, point.seconds);
    for (const int64_t bytes : point.bytes) text += ", " + std::to_string(bytes);
    text += "]";
  };
  for (const Point& point : points_) append(point);
  if (highest_.total >= 0) append(highest_);
  return text + "]}";
}

}  // namespace hearth
