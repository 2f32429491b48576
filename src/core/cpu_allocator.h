#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/memory_history.h"
#include "core/memory_label.h"
#include "hearth/memory_stats.h"

namespace hearth {

/// Allocates memory for tensors on the CPU, 64-byte aligned; null for 0 bytes. Blocks up to 32 KiB
/// come from a cache of the thread, larger ones from a cache of mapped pages. If the system has no
/// more memory, both caches are emptied; if that does not help, OutOfMemoryError is thrown.
void* cpu_allocate(size_t bytes, MemoryLabel label = {});
/// Frees memory from cpu_allocate(bytes, label), on any thread.
void cpu_free(void* data, size_t bytes, MemoryLabel label = {}) noexcept;
/// Counts a block of this size under another label, which cpu_free must get.
void cpu_retag(size_t bytes, MemoryLabel from, MemoryLabel to) noexcept;

/// The size of the block for a request.
size_t cpu_block_bytes(size_t bytes);

/// Allocates memory in the same way for the library's own objects, which the statistics do not
/// count.
void* object_allocate(size_t bytes);
void object_free(void* object, size_t bytes) noexcept;

/// Allocation for a class's operator new and delete: `using Pool = ObjectPool<sizeof(Node)>`.
template <size_t Size>
struct ObjectPool {
  static void* allocate() { return object_allocate(Size); }
  static void free(void* object) noexcept { object_free(object, Size); }
};

/// Sets the maximum number of cached bytes; by default a quarter of the memory, at most 4 GiB.
void set_cpu_cache_limit(size_t bytes);
/// Sets the maximum number of reserved bytes; the default is HEARTH_CPU_MEMORY, if this environment
/// variable is set.
void set_cpu_memory_limit(size_t bytes);
size_t cpu_memory_limit();
inline constexpr size_t kNoMemoryLimit = static_cast<size_t>(-1);

/// Except for the tags' peaks, the statistics are exact for one thread. With several threads, a
/// peak may be too high by the memory that each thread has freed into its cache (at most 2 MiB
/// per thread).
MemoryStats cpu_memory_stats();
/// The modules whose activations are or were in blocks above 32 KiB.
std::vector<ModuleMemory> cpu_module_memory();
void cpu_reset_peak_stats();

/// Records the bytes of the tags from now on; null ends the recording.
void cpu_record_history(std::unique_ptr<MemoryHistory> history);
/// The recording as JSON; empty if there is none. Blocks up to 32 KiB appear later, because each
/// thread first counts its own.
std::string cpu_history_json();

}  // namespace hearth
