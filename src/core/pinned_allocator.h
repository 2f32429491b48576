#pragma once

#include <cstddef>

#include "hearth/memory_stats.h"
#include "seam/backend.h"

namespace hearth {

/// Page-locked host memory, from and to which copies are asynchronous, kept for reuse. 64-byte
/// aligned; null for 0 bytes; an Error without a CUDA device, OutOfMemoryError when there is no
/// more.
void* pinned_allocate(size_t bytes);
/// The memory is used again when the streams recorded for it have passed this moment.
void pinned_free(void* data);
/// Notes that a stream copies from or to the memory around `data`; other memory is ignored.
void pinned_record(void* data, Device device, StreamHandle stream);
/// Whether the address lies in memory from pinned_allocate.
bool is_pinned(const void* data);
void pinned_empty_cache();
MemoryStats pinned_memory_stats();

}  // namespace hearth
