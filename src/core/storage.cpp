#include "hearth/storage.h"

#include <algorithm>
#include <cstring>

#include "core/backends.h"
#include "core/cpu_allocator.h"
#include "core/device_allocator.h"
#include "core/meta_memory.h"
#include "core/pinned_allocator.h"
#include "core/size_classes.h"
#include "core/storage_impl.h"
#include "core/streams.h"
#include "hearth/allocator.h"
#include "hearth/storage_resize.h"

namespace hearth {

void* StorageImpl::operator new(size_t bytes) { return object_allocate(bytes); }
void StorageImpl::operator delete(void* memory, size_t bytes) noexcept {
  object_free(memory, bytes);
}

namespace {

/// The label of a new block. Small blocks of the CPU are not counted for their module, because the
/// count would take longer than the allocation.
MemoryLabel new_label(size_t nbytes, Device device) {
  return current_memory_label(/*with_path=*/!device.is_cpu() || nbytes > detail::kLargestSmall);
}

[[gnu::always_inline]] inline void* allocate(size_t nbytes, Device device, bool pinned,
                                             StreamHandle stream, MemoryLabel label) {
  if (device.is_cpu() && !pinned) [[likely]]
    return cpu_allocate(nbytes, label);
  if (nbytes == 0) return nullptr;
  if (device.is_cuda()) return device_allocator(device).allocate(nbytes, stream, label);
  return pinned_allocate(nbytes);
}

}  // namespace

void release_memory(StorageImpl& storage) noexcept {
  if (!storage.data && !storage.deleter) {
    if (detail::meta_counts && storage.device.is_meta()) detail::meta_counts->freed(storage);
    return;
  }
  if (storage.borrowed) return;
  if (storage.deleter) return storage.deleter(storage.data);
  if (!storage.device.is_cuda() && !storage.pinned)
    return cpu_free(storage.data, storage.nbytes, storage.label);
  try {
    if (storage.device.is_cuda())
      device_free(storage.device, storage.data, storage.stream);
    else
      pinned_free(storage.data);
  } catch (...) {
    // The GPU has failed: the block is lost, but the process continues so that it can report the
    // error.
  }
}

void StorageImpl::destroy(StorageImpl* storage) noexcept {
  release_memory(*storage);
  delete storage;
}

namespace {

StoragePtr allocated_by(Allocator& allocator, size_t nbytes, StoragePtr storage) {
  give_memory(*storage, allocator.allocate(nbytes), nbytes);
  storage->allocator = &allocator;
  storage->replaceable = true;
  return storage;
}

}  // namespace

StoragePtr new_storage(size_t nbytes, Device device, bool pinned) {
  auto storage = StoragePtr::adopt(new StorageImpl);
  storage->device = device;
  if (Allocator* own = own_cpu_allocator.load(std::memory_order_relaxed); own) [[unlikely]] {
    if (device.is_cpu() && !pinned) return allocated_by(*own, nbytes, std::move(storage));
  }
  if (device.is_cuda()) storage->stream = current_stream(device);
  storage->label = new_label(nbytes, device);
  if (device.is_meta()) {
    storage->nbytes = nbytes;
    if (detail::meta_counts) detail::meta_counts->allocated(*storage);
    return storage;
  }
  storage->data = allocate(nbytes, device, pinned, storage->stream, storage->label);
  storage->nbytes = nbytes;
  storage->pinned = pinned;
  return storage;
}

void retag(StorageImpl& storage, MemoryTag tag) {
  const MemoryLabel label{tag, 0};
  if (storage.label.tag() == tag) return;
  const bool is_ours = storage.data && !storage.borrowed && !storage.deleter && !storage.pinned;
  if (is_ours && storage.device.is_cuda())
    device_allocator(storage.device).retag(storage.data, label);
  else if (is_ours && storage.device.is_cpu())
    cpu_retag(storage.nbytes, storage.label, label);
  else if (detail::meta_counts && storage.device.is_meta())
    detail::meta_counts->retagged(storage, label);
  storage.label = label;
}

namespace {

/// Counts the new block before the old one is freed, as on other devices.
void resize_meta(StorageImpl& storage, size_t nbytes) {
  const StoragePtr resized = new_storage(nbytes, storage.device);
  retag(*resized, storage.label.tag());
  std::swap(storage.nbytes, resized->nbytes);
  std::swap(storage.meta_memory, resized->meta_memory);
  std::swap(storage.label, resized->label);
}

void resize_with_allocator(StorageImpl& storage, size_t nbytes) {
  DataPtr resized = storage.allocator->allocate(nbytes);
  const size_t kept = std::min(nbytes, storage.nbytes);
  if (storage.data && kept > 0) storage.allocator->copy_data(resized.get(), storage.data, kept);
  release_memory(storage);
  give_memory(storage, std::move(resized), nbytes);
}

/// Replaces the memory by a block of `nbytes`, or by none, and copies the bytes that fit.
void resize(StorageImpl& storage, size_t nbytes) {
  HEARTH_CHECK(storage.replaceable || (!storage.deleter && !storage.borrowed),
               "Trying to resize storage that is not resizable");
  if (storage.device.is_meta()) return resize_meta(storage, nbytes);
  if (storage.allocator) return resize_with_allocator(storage, nbytes);
  StorageImpl resized;
  resized.device = storage.device;
  resized.stream = storage.device.is_cuda() ? current_stream(storage.device) : nullptr;
  if (nbytes > 0)
    resized.data = allocate(nbytes, storage.device, storage.pinned, resized.stream, storage.label);
  const size_t kept = std::min(nbytes, storage.nbytes);
  if (storage.data && kept > 0 && storage.device.is_cuda()) {
    backend_of(storage.device)
        .copy(resized.data, storage.data, kept, CopyKind::kDeviceToDevice, storage.device.index(),
              resized.stream);
    // The old block is freed below, before this stream has copied it.
    device_record_stream(storage.data, storage.device, resized.stream);
  } else if (storage.data && kept > 0) {
    std::memcpy(resized.data, storage.data, kept);
  }
  release_memory(storage);
  storage.deleter = nullptr;
  storage.borrowed = false;
  storage.data = resized.data;
  storage.nbytes = nbytes;
  storage.stream = resized.stream;
}

}  // namespace

void grow_storage(StorageImpl& storage, size_t nbytes) { resize(storage, nbytes); }

void resize_storage_(const Storage& storage, size_t nbytes) {
  HEARTH_CHECK(storage, "resize_storage_: the tensor has no storage");
  StorageImpl& impl = *storage.unsafeGetStorageImpl();
  if (impl.nbytes != nbytes) resize(impl, nbytes);
}

Storage::Storage(const Storage& other) : impl_(other.impl_) {
  if (impl_) impl_->retain();
}
Storage::~Storage() {
  if (impl_ && impl_->drop()) StorageImpl::destroy(impl_);
}
const void* Storage::data() const { return impl_ ? impl_->data : nullptr; }
void* Storage::mutable_data() const { return impl_ ? impl_->data : nullptr; }
size_t Storage::nbytes() const { return impl_ ? impl_->nbytes : 0; }
Device Storage::device() const { return impl_ ? impl_->device : Device(DeviceType::CPU); }
size_t Storage::use_count() const { return impl_ ? impl_->use_count() : 0; }

}  // namespace hearth
