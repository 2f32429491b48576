#pragma once

#include <cstdint>

#include "core/memory_label.h"
#include "core/storage_impl.h"
#include "hearth/meta_memory.h"

namespace hearth {

/// The counts of a MetaMemory. Each counted storage is marked with `number`.
struct MetaMemory::Counts {
  uint32_t number;
  Device like;
  MemoryStats stats = {};
  PathBytes paths = {};

  void allocated(StorageImpl& storage);
  void freed(const StorageImpl& storage);
  void retagged(const StorageImpl& storage, MemoryLabel label);

 private:
  bool is_counted(const StorageImpl& storage) const;
  void count(MemoryLabel label, int64_t bytes);
  int64_t block_bytes(size_t bytes) const;
};

namespace detail {
/// The counts of this thread's innermost MetaMemory, or null.
extern constinit thread_local MetaMemory::Counts* meta_counts;
}  // namespace detail

}  // namespace hearth
