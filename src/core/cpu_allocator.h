#pragma once

#include <cstddef>

#include "hearth/memory_stats.h"

namespace hearth {

/// Memory for tensors on the CPU, 64-byte aligned; null for 0 bytes. Blocks up to 32 KiB come from
/// caches of their thread, larger ones from a cache of warm pages. When the system has no more, the
/// caches are emptied; if that does not help, OutOfMemoryError.
void* cpu_allocate(size_t bytes);
/// Takes back what cpu_allocate(bytes) returned, on any thread.
void cpu_free(void* data, size_t bytes) noexcept;

/// The same memory for the library's own objects, which the statistics leave out.
void* object_allocate(size_t bytes);
void object_free(void* object, size_t bytes) noexcept;

/// For a class's operator new and delete: `using Pool = ObjectPool<sizeof(Node)>`.
template <size_t Size>
struct ObjectPool {
  static void* allocate() { return object_allocate(Size); }
  static void free(void* object) noexcept { object_free(object, Size); }
};

/// Returns all cached memory to the system, but for the few blocks that other threads keep for
/// themselves.
void cpu_empty_cache();
/// How many bytes of free blocks may be kept; at first a quarter of the memory, but at most 4 GiB.
void set_cpu_cache_limit(size_t bytes);
/// How many bytes may be reserved in all; for tests of what happens when memory runs out.
void set_cpu_memory_limit(size_t bytes);
inline constexpr size_t kNoMemoryLimit = static_cast<size_t>(-1);

/// Exact for one thread; with several, a peak may be too high by what they freed into their own
/// caches lately (at most 2 MiB each).
MemoryStats cpu_memory_stats();
void cpu_reset_peak_stats();

}  // namespace hearth
