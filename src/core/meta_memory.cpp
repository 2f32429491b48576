#include "core/meta_memory.h"

#include <atomic>

#include "core/cpu_allocator.h"
#include "core/device_allocator.h"
#include "core/memory_counters.h"
#include "core/memory_report.h"
#include "hearth/error.h"

namespace hearth {

constinit thread_local MetaMemory::Counts* detail::meta_counts = nullptr;

int64_t MetaMemory::Counts::block_bytes(size_t bytes) const {
  if (bytes == 0) return 0;
  return static_cast<int64_t>(like.is_cpu() ? cpu_block_bytes(bytes) : device_block_bytes(bytes));
}

void MetaMemory::Counts::count(MemoryLabel label, int64_t bytes) {
  MemoryStat& tag = stats.tags[static_cast<size_t>(label.tag())];
  bytes > 0 ? tag.increase(bytes) : tag.decrease(-bytes);
  paths.add(label.path(), bytes);
}

bool MetaMemory::Counts::is_counted(const StorageImpl& storage) const {
  return storage.meta_memory == number;
}

void MetaMemory::Counts::allocated(StorageImpl& storage) {
  const int64_t bytes = block_bytes(storage.nbytes);
  const bool is_peak = stats.allocated_bytes.current + bytes > stats.allocated_bytes.peak;
  storage.meta_memory = number;
  stats.allocation.increase(1);
  stats.allocated_bytes.increase(bytes);
  count(storage.label, bytes);
  if (is_peak) detail::note_peak(stats);
}

void MetaMemory::Counts::freed(const StorageImpl& storage) {
  if (!is_counted(storage)) return;
  const int64_t bytes = block_bytes(storage.nbytes);
  stats.allocation.decrease(1);
  stats.allocated_bytes.decrease(bytes);
  count(storage.label, -bytes);
}

void MetaMemory::Counts::retagged(const StorageImpl& storage, MemoryLabel label) {
  if (!is_counted(storage)) return;
  const int64_t bytes = block_bytes(storage.nbytes);
  count(storage.label, -bytes);
  count(label, bytes);
  detail::note_retag(stats);
}

namespace {

Device checked_target(Device like) {
  HEARTH_CHECK_AS(ValueError, like.is_cpu() || like.is_cuda(),
                  "MetaMemory(): expected a CPU or CUDA device, but got ", like);
  return like;
}

/// Never 0, which marks storages that are not counted.
uint32_t next_number() {
  static std::atomic<uint32_t> last{0};
  const uint32_t number = ++last;
  return number != 0 ? number : ++last;
}

}  // namespace

MetaMemory::MetaMemory(Device like)
    : counts_(new Counts{next_number(), checked_target(like)}), former_(detail::meta_counts) {
  detail::meta_counts = counts_;
}

MetaMemory::~MetaMemory() {
  detail::meta_counts = former_;
  delete counts_;
}

const MemoryStats& MetaMemory::stats() const { return counts_->stats; }

std::string MetaMemory::summary(bool abbreviated) const {
  MemoryReport report{.device = counts_->like, .stats = counts_->stats};
  report.modules = counts_->paths.modules();
  return summary_text(report, abbreviated);
}

}  // namespace hearth
