#include "hearth/allocator.h"

#include <cstdlib>
#include <cstring>

#include "core/storage_impl.h"
#include "core/streams.h"

namespace hearth {

Allocator::~Allocator() = default;

bool Allocator::is_simple_data_ptr(const DataPtr& data) const {
  return data.get() == data.get_context();
}

DataPtr Allocator::clone(const void* data, size_t nbytes) {
  DataPtr copy = allocate(nbytes);
  copy_data(copy.get(), data, nbytes);
  return copy;
}

void* Allocator::raw_allocate(size_t nbytes) {
  DataPtr data = allocate(nbytes);
  HEARTH_CHECK(data.get() == data.get_context(),
               "raw_allocate: the allocator's memory has a context of its own");
  return data.release_context();
}

void Allocator::raw_deallocate(void* data) {
  const DeleterFnPtr deleter = raw_deleter();
  HEARTH_CHECK(deleter, "raw_deallocate: the allocator has no raw_deleter()");
  deleter(data);
}

void Allocator::default_copy_data(void* to, const void* from, size_t nbytes) const {
  std::memcpy(to, from, nbytes);
}

namespace {

class HostAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t nbytes) override {
    static constexpr size_t kAlignment = 64;
    if (nbytes == 0) return {nullptr, nullptr, &std::free, DeviceType::CPU};
    const size_t padded = (nbytes + kAlignment - 1) / kAlignment * kAlignment;
    void* const data = padded >= nbytes ? std::aligned_alloc(kAlignment, padded) : nullptr;
    HEARTH_CHECK_AS(OutOfMemoryError, data,
                    "DefaultCPUAllocator: can't allocate memory: you tried "
                    "to allocate ",
                    nbytes, " bytes.");
    return {data, data, &std::free, DeviceType::CPU};
  }
  void copy_data(void* to, const void* from, size_t nbytes) const override {
    default_copy_data(to, from, nbytes);
  }
  DeleterFnPtr raw_deleter() const override { return &std::free; }
};

/// Memory of the current GPU, owned by storages.
class GpuAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t nbytes) override {
    const Device device(DeviceType::CUDA, static_cast<DeviceIndex>(current_cuda_device()));
    StoragePtr storage = new_storage(nbytes, device);
    void* const data = storage->data;
    return {data, storage.detach(), &destroy, device};
  }
  void copy_data(void*, const void*, size_t) const override {
    detail::fail<NotImplementedError>("copy_data: copy tensors instead of blocks of GPU memory");
  }

 private:
  static void destroy(void* storage) { StorageImpl::destroy(static_cast<StorageImpl*>(storage)); }
};

uint8_t cpu_priority = 0;

}  // namespace

Allocator* GetDefaultCPUAllocator() {
  static HostAllocator allocator;
  return &allocator;
}

Allocator* GetAllocator(const DeviceType& type) {
  static GpuAllocator gpu;
  if (type == DeviceType::CUDA) return &gpu;
  HEARTH_CHECK(type == DeviceType::CPU, "Allocator for ", name_of(type), " is not set.");
  Allocator* const own = own_cpu_allocator.load(std::memory_order_relaxed);
  return own ? own : GetDefaultCPUAllocator();
}

void SetAllocator(DeviceType type, Allocator* allocator, uint8_t priority) {
  HEARTH_CHECK_AS(NotImplementedError, type == DeviceType::CPU,
                  "SetAllocator: only the CPU's allocator can be replaced");
  if (priority < cpu_priority) return;
  const bool is_default = !allocator || allocator == GetDefaultCPUAllocator();
  cpu_priority = is_default ? 0 : priority;
  own_cpu_allocator.store(is_default ? nullptr : allocator, std::memory_order_relaxed);
}

}  // namespace hearth
