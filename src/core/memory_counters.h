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

/// Sets the bytes of each tag at the peak to its present bytes.
inline void note_peak(MemoryStats& stats) {
  for (size_t i = 0; i < kNumMemoryTags; ++i) stats.at_peak[i] = stats.tags[i].current;
}

/// Updates the tags at the peak after memory changed its tag: only if the present total is the
/// peak.
inline void note_retag(MemoryStats& stats) {
  if (stats.allocated_bytes.current == stats.allocated_bytes.peak) note_peak(stats);
}

/// Totals of additions and removals, without a peak. Only one thread writes them.
struct Totals {
  std::atomic<int64_t> added{0}, removed{0};

  static void increase(std::atomic<int64_t>& count, int64_t amount) {
    count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void clear() {
    added.store(0, std::memory_order_relaxed);
    removed.store(0, std::memory_order_relaxed);
  }
};

/// The bytes that a thread has allocated for tensors minus those that it has freed, since its
/// start; for profilers.
struct ThreadNetBytes {
  int64_t cpu = 0, device = 0;
};
inline constinit thread_local ThreadNetBytes thread_net_bytes;

/// The allocations and releases of one thread since it last published its counts. The tag Other is
/// not counted, but follows from the total: it is the usual tag of small blocks outside modules,
/// whose allocation a further counter would slow down measurably.
struct ThreadCounters {
  ThreadCounter blocks, bytes;
  Totals tags[kNumMemoryTags];  // in bytes; the element of Other is unused
  Totals retags;                // bytes that changed their tag, in `added`

  void allocated(size_t size, MemoryTag tag) {
    blocks.add(1);
    bytes.add(static_cast<int64_t>(size));
    if (tag != MemoryTag::Other) Totals::increase(of(tag).added, static_cast<int64_t>(size));
  }
  void freed(size_t size, MemoryTag tag) {
    blocks.remove(1);
    bytes.remove(static_cast<int64_t>(size));
    if (tag != MemoryTag::Other) Totals::increase(of(tag).removed, static_cast<int64_t>(size));
  }
  void retagged(size_t size, MemoryTag from, MemoryTag to) {
    const auto amount = static_cast<int64_t>(size);
    Totals::increase(retags.added, amount);
    if (from != MemoryTag::Other) Totals::increase(of(from).removed, amount);
    if (to != MemoryTag::Other) Totals::increase(of(to).added, amount);
  }
  void reset_peak() {
    blocks.reset_peak();
    bytes.reset_peak();
  }
  void add_to(MemoryStats& stats) const {
    const MemoryStat before = stats.allocated_bytes;
    blocks.add_to(stats.allocation);
    bytes.add_to(stats.allocated_bytes);
    const int64_t moved = retags.added.load(std::memory_order_relaxed);
    int64_t other_added = stats.allocated_bytes.allocated - before.allocated + moved;
    int64_t other_removed = stats.allocated_bytes.freed - before.freed + moved;
    for (size_t i = 1; i < kNumMemoryTags; ++i) {
      const int64_t added = tags[i].added.load(std::memory_order_relaxed);
      const int64_t removed = tags[i].removed.load(std::memory_order_relaxed);
      add_tag(stats.tags[i], added, removed);
      other_added -= added;
      other_removed -= removed;
    }
    add_tag(stats.tags[0], other_added, other_removed);
    if (stats.allocated_bytes.peak > before.peak) note_peak(stats);
    if (moved > 0) note_retag(stats);
  }
  void move_to(MemoryStats& stats) {
    add_to(stats);
    blocks.clear();
    bytes.clear();
    for (Totals& tag : tags) tag.clear();
    retags.clear();
  }

 private:
  static_assert(MemoryTag::Other == MemoryTag(0));
  Totals& of(MemoryTag tag) { return tags[static_cast<size_t>(tag)]; }
  static void add_tag(MemoryStat& stat, int64_t added, int64_t removed) {
    stat.allocated += added;
    stat.freed += removed;
    stat.current += added - removed;
    stat.peak = std::max(stat.peak, stat.current);
  }
};

}  // namespace hearth::detail
