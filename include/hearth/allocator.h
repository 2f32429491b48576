#pragma once

#include <cstddef>
#include <cstdint>

#include "hearth/storage.h"

namespace hearth {

/// Base of a program's allocators of tensor memory.
struct HEARTH_API Allocator {
  virtual ~Allocator();
  virtual DataPtr allocate(size_t nbytes) = 0;  ///< memory that the DataPtr owns
  /// Copies bytes between blocks of this allocator.
  virtual void copy_data(void* to, const void* from, size_t nbytes) const = 0;
  /// The deleter of all memory for which context and address are the same; null if there is none.
  virtual DeleterFnPtr raw_deleter() const { return nullptr; }
  /// Whether address and context of the memory are the same.
  virtual bool is_simple_data_ptr(const DataPtr& data) const;
  DataPtr clone(const void* data, size_t nbytes);  ///< new memory with a copy of these bytes
  void* raw_allocate(size_t nbytes);               ///< memory that only raw_deallocate() frees
  void raw_deallocate(void* data);

 protected:
  void default_copy_data(void* to, const void* from, size_t nbytes) const;  ///< std::memcpy
};

/// The allocator of the device type. Memory of the CPU's has the alignment of tensors, but is not
/// counted by the memory statistics.
HEARTH_API Allocator* GetAllocator(const DeviceType& type);
/// Makes `allocator` allocate the CPU's tensors from now on, unless the present one has a higher
/// priority; null restores Hearth's. It must live until the end of the program. Call it before
/// other threads allocate.
HEARTH_API void SetAllocator(DeviceType type, Allocator* allocator, uint8_t priority = 0);
HEARTH_API Allocator* GetDefaultCPUAllocator();  ///< Hearth's own, whatever SetAllocator has set
inline Allocator* GetCPUAllocator() { return GetAllocator(DeviceType::CPU); }
inline void SetCPUAllocator(Allocator* allocator, uint8_t priority = 0) {
  SetAllocator(DeviceType::CPU, allocator, priority);
}

}  // namespace hearth
