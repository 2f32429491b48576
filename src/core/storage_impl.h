#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/memory_label.h"
#include "hearth/device.h"
#include "hearth/intrusive.h"
#include "hearth/storage.h"
#include "seam/ctx.h"

namespace hearth {

/// A block of memory, and the means to free it.
struct StorageImpl : RefCounted {
  void* data = nullptr;
  size_t nbytes = 0;
  Device device{DeviceType::CPU};
  bool pinned = false;
  MemoryLabel label;                   // of memory from this library's allocators
  StreamHandle stream = nullptr;       // the stream it was allocated on
  std::function<void(void*)> deleter;  // frees external memory (from_blob)
  bool borrowed = false;               // external memory that is never freed here
  bool replaceable = false;            // external memory that may be replaced by larger memory
  Allocator* allocator = nullptr;      // the program's, for larger memory
  uint32_t meta_memory = 0;            // the number of the MetaMemory that counts it; 0: none

  static void destroy(StorageImpl* storage) noexcept;
  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;
};
using StoragePtr = IntrusivePtr<StorageImpl>;

/// Allocates memory on the device, for use in order with its current stream.
StoragePtr new_storage(size_t nbytes, Device device, bool pinned = false);

/// The allocator that SetAllocator() has set for the CPU, or null.
inline constinit std::atomic<Allocator*> own_cpu_allocator = nullptr;
/// Gives memory to a storage that has none.
void give_memory(StorageImpl& storage, DataPtr data, size_t nbytes);
/// Frees the storage's memory.
void release_memory(StorageImpl& storage) noexcept;

/// Changes the tag of the storage's memory.
void retag(StorageImpl& storage, MemoryTag tag);

/// Replaces the memory of `storage` by a block of `nbytes` and copies the contents.
void grow_storage(StorageImpl& storage, size_t nbytes);

}  // namespace hearth
