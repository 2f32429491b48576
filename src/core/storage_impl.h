#pragma once

#include <cstddef>
#include <functional>

#include "hearth/device.h"
#include "hearth/intrusive.h"
#include "seam/ctx.h"

namespace hearth {

/// A block of memory and how to give it back.
struct StorageImpl : RefCounted {
  void* data = nullptr;
  size_t nbytes = 0;
  Device device{DeviceType::CPU};
  bool pinned = false;
  StreamHandle stream = nullptr;       // the stream it was allocated on
  std::function<void(void*)> deleter;  // set for memory that is not ours (from_blob)
  bool borrowed = false;               // not ours and nothing to call

  static void destroy(StorageImpl* storage) noexcept;
  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;
};
using StoragePtr = IntrusivePtr<StorageImpl>;

/// New memory on the device, in order with its current stream.
StoragePtr new_storage(size_t nbytes, Device device, bool pinned = false);

/// Gives `storage` new memory of at least `nbytes`, keeping its first bytes.
void grow_storage(StorageImpl& storage, size_t nbytes);

}  // namespace hearth
