#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "hearth/memory_stats.h"

namespace hearth {

/// The bytes that one device's tensors held over time, by tag. If there are more changes than
/// max_points, each point stands for several changes and has the bytes at their highest total. Not
/// thread-safe; the owner locks it.
class MemoryHistory {
 public:
  using Clock = std::chrono::steady_clock;
  MemoryHistory(Clock::time_point start, size_t max_points);

  /// Records the bytes of all tags now; allocates no tensor memory.
  void add(const MemoryStats& stats) noexcept;
  /// `{"device": …, "points": [[seconds, bytes of each tag…], …]}`.
  std::string json(const std::string& device) const;

 private:
  struct Point {
    double seconds = 0;
    int64_t total = -1;  // of the bytes; -1: no change yet
    std::array<int64_t, kNumMemoryTags> bytes{};
  };
  void finish_point() noexcept;
  void grow() noexcept;
  void halve() noexcept;

  Clock::time_point start_;
  std::vector<Point> points_;
  size_t max_points_;
  Point highest_;       // of the changes since the last point
  size_t changes_ = 0;  // since the last point
  size_t changes_per_point_ = 1;
};

}  // namespace hearth
