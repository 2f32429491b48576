// Memory that processes share.
#include <sys/mman.h>

#include <cstring>

#include "core/tensor_impl.h"

namespace hearth {

namespace {

struct Pages {
  void* address;
  size_t bytes;
  ~Pages() { munmap(address, bytes); }
};

}  // namespace

void Tensor::share_memory_() const {
  HEARTH_CHECK(defined(), "share_memory_: the tensor is undefined");
  StorageImpl* const storage = impl_->storage.get();
  if (!is_cpu() || !storage || storage->nbytes == 0) return;
  const size_t bytes = storage->nbytes;
  void* const address =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  HEARTH_CHECK(address != MAP_FAILED, "share_memory_: no memory for ", bytes, " bytes");
  std::memcpy(address, storage->data, bytes);
  const Storage handle = this->storage();
  handle.set_data_ptr_noswap(DataPtr(
      address, new Pages{address, bytes}, [](void* pages) { delete static_cast<Pages*>(pages); },
      impl_->device));
}

}  // namespace hearth
