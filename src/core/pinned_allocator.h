#pragma once

#include <cstddef>

#include "hearth/memory_stats.h"
#include "seam/backend.h"

namespace hearth {

/// Allocates page-locked host memory for asynchronous copies, cached for reuse. 64-byte aligned;
/// null for 0 bytes. Throws an error without a CUDA device, and OutOfMemoryError if no more is
/// available.
void* pinned_allocate(size_t bytes);
/// Frees the memory; it is reused after the work that is now in its recorded streams.
void pinned_free(void* data);
/// Records that a stream copies from or to the block that contains `data`; ignores other memory.
void pinned_record(void* data, Device device, StreamHandle stream);
/// Whether the address is inside memory from pinned_allocate.
bool is_pinned(const void* data);
void pinned_empty_cache();
MemoryStats pinned_memory_stats();

}  // namespace hearth
