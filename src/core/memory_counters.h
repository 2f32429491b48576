#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "hearth/memory_stats.h"

namespace hearth::detail {

/// A quantity's ins and outs on one thread. Only that thread writes, so plain loads and stores do;
/// others may read, and may lower the peak.
class ThreadCount {
 public:
  void add(int64_t amount) {
    const int64_t net = bump(in_, amount) - get(out_);
    if (net > get(peak_)) set(peak_, net);
  }
  void remove(int64_t amount) { bump(out_, amount); }
  void reset_peak() { set(peak_, get(in_) - get(out_)); }
  void clear() {
    set(in_, 0);
    set(out_, 0);
    set(peak_, 0);
  }

  void add_to(MemoryStat& stat) const {
    stat.peak = std::max(stat.peak, stat.current + get(peak_));
    stat.allocated += get(in_);
    stat.freed += get(out_);
    stat.current += get(in_) - get(out_);
  }

 private:
  using Count = std::atomic<int64_t>;
  static int64_t get(const Count& count) { return count.load(std::memory_order_relaxed); }
  static void set(Count& count, int64_t value) { count.store(value, std::memory_order_relaxed); }
  static int64_t bump(Count& count, int64_t amount) {
    const int64_t sum = get(count) + amount;
    set(count, sum);
    return sum;
  }

  Count in_{0}, out_{0};
  Count peak_{0};  // the most that in_ - out_ has been
};

/// What one thread has allocated and freed since it last told the process.
struct ThreadCounters {
  ThreadCount blocks, bytes;

  void allocated(size_t size) {
    blocks.add(1);
    bytes.add(static_cast<int64_t>(size));
  }
  void freed(size_t size) {
    blocks.remove(1);
    bytes.remove(static_cast<int64_t>(size));
  }
  void reset_peak() {
    blocks.reset_peak();
    bytes.reset_peak();
  }
  void add_to(MemoryStats& stats) const {
    blocks.add_to(stats.allocation);
    bytes.add_to(stats.allocated_bytes);
  }
  void move_to(MemoryStats& stats) {
    add_to(stats);
    blocks.clear();
    bytes.clear();
  }
};

}  // namespace hearth::detail
