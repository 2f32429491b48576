#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "hearth/memory_stats.h"

namespace hearth::detail {

/// A quantity of one thread, with totals of additions and removals. Only this thread writes the
/// totals, so plain loads and stores suffice; other threads may read them, and may lower the peak.
class ThreadCounter {
 public:
  void add(int64_t amount) {
    const int64_t net = increase(added_, amount) - get(removed_);
    if (net > get(peak_)) set(peak_, net);
  }
  void remove(int64_t amount) { increase(removed_, amount); }
  void reset_peak() { set(peak_, get(added_) - get(removed_)); }
  void clear() {
    set(added_, 0);
    set(removed_, 0);
    set(peak_, 0);
  }

  void add_to(MemoryStat& stat) const {
    stat.peak = std::max(stat.peak, stat.current + get(peak_));
    stat.allocated += get(added_);
    stat.freed += get(removed_);
    stat.current += get(added_) - get(removed_);
  }

 private:
  using Count = std::atomic<int64_t>;
  static int64_t get(const Count& count) { return count.load(std::memory_order_relaxed); }
  static void set(Count& count, int64_t value) { count.store(value, std::memory_order_relaxed); }
  static int64_t increase(Count& count, int64_t amount) {
    const int64_t sum = get(count) + amount;
    set(count, sum);
    return sum;
  }

  Count added_{0}, removed_{0};
  Count peak_{0};  // the maximum of added_ - removed_
};

/// Notes what each tag holds now as what it held at the peak.
inline void note_peak(MemoryStats& stats) {
  for (size_t i = 0; i < kNumMemoryTags; ++i) stats.at_peak[i] = stats.tags[i].current;
}

/// The allocations and releases of one thread since it last published its counts.
struct ThreadCounters {
  ThreadCounter blocks, bytes;
  ThreadCounter tags[kNumMemoryTags];  // bytes

  void allocated(size_t size, MemoryTag tag) {
    blocks.add(1);
    bytes.add(static_cast<int64_t>(size));
    of(tag).add(static_cast<int64_t>(size));
  }
  void freed(size_t size, MemoryTag tag) {
    blocks.remove(1);
    bytes.remove(static_cast<int64_t>(size));
    of(tag).remove(static_cast<int64_t>(size));
  }
  void retagged(size_t size, MemoryTag from, MemoryTag to) {
    of(from).remove(static_cast<int64_t>(size));
    of(to).add(static_cast<int64_t>(size));
  }
  void reset_peak() {
    blocks.reset_peak();
    bytes.reset_peak();
    for (ThreadCounter& tag : tags) tag.reset_peak();
  }
  void add_to(MemoryStats& stats) const {
    const int64_t former_peak = stats.allocated_bytes.peak;
    blocks.add_to(stats.allocation);
    bytes.add_to(stats.allocated_bytes);
    for (size_t i = 0; i < kNumMemoryTags; ++i) tags[i].add_to(stats.tags[i]);
    if (stats.allocated_bytes.peak > former_peak) note_peak(stats);
  }
  void move_to(MemoryStats& stats) {
    add_to(stats);
    blocks.clear();
    bytes.clear();
    for (ThreadCounter& tag : tags) tag.clear();
  }

 private:
  ThreadCounter& of(MemoryTag tag) { return tags[static_cast<size_t>(tag)]; }
};

}  // namespace hearth::detail
