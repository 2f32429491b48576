// The memory that programs give to storages.
#include <memory>

#include "core/storage_impl.h"
#include "hearth/allocator.h"

namespace hearth {

void detail::deleteNothing(void*) {}

DataPtr::DataPtr(void* data, void* context, DeleterFnPtr deleter, Device device)
    : data_(data),
      context_(context),
      deleter_(deleter ? deleter : &detail::deleteNothing),
      device_(device),
      owns_(true) {}

DataPtr::DataPtr(DataPtr&& other) noexcept { *this = std::move(other); }

DataPtr& DataPtr::operator=(DataPtr&& other) noexcept {
  if (this == &other) return *this;
  clear();
  data_ = std::exchange(other.data_, nullptr);
  context_ = std::exchange(other.context_, nullptr);
  deleter_ = other.deleter_;
  device_ = other.device_;
  owns_ = std::exchange(other.owns_, false);
  return *this;
}

void DataPtr::clear() {
  if (owns_ && context_) deleter_(context_);
  data_ = context_ = nullptr;
  owns_ = false;
}

void* DataPtr::release_context() {
  owns_ = false;
  return std::exchange(context_, nullptr);
}

std::unique_ptr<void, DeleterFnPtr> DataPtr::move_context() {
  return {release_context(), deleter_};
}

bool DataPtr::compare_exchange_deleter(DeleterFnPtr expected, DeleterFnPtr deleter) {
  if (deleter_ != expected) return false;
  deleter_ = deleter;
  return true;
}

DataPtr DataPtr::borrow() const {
  DataPtr borrowed(data_, context_, deleter_, device_);
  borrowed.owns_ = false;
  return borrowed;
}

namespace {

/// Frees memory that a DataPtr owned.
struct ContextDeleter {
  std::shared_ptr<DataPtr> owner;  // std::function copies its target
  void operator()(void*) const { owner->clear(); }
};

}  // namespace

void give_memory(StorageImpl& storage, DataPtr data, size_t nbytes) {
  storage.data = data.get();
  storage.nbytes = nbytes;
  storage.device = data.device();
  storage.borrowed = !data.get_context();
  storage.deleter = nullptr;
  if (!storage.borrowed)
    storage.deleter = ContextDeleter{std::make_shared<DataPtr>(std::move(data))};
}

namespace {

StorageImpl* new_impl(size_t nbytes, DataPtr data, Allocator* allocator, bool resizable) {
  auto storage = StoragePtr::adopt(new StorageImpl);
  give_memory(*storage, std::move(data), nbytes);
  storage->allocator = allocator;
  storage->replaceable = resizable;
  return storage.detach();
}

}  // namespace

Storage::Storage(use_byte_size_t, size_t nbytes, Allocator* allocator, bool resizable) {
  if (!allocator) allocator = GetCPUAllocator();
  impl_ = new_impl(nbytes, allocator->allocate(nbytes), allocator, resizable);
}
Storage::Storage(use_byte_size_t, size_t nbytes, DataPtr data, Allocator* allocator, bool resizable)
    : impl_(new_impl(nbytes, std::move(data), allocator, resizable)) {}
Storage Storage::create_legacy(Device device) { return Storage(new_storage(0, device).detach()); }

DataPtr Storage::data_ptr() const {
  if (!impl_) return {};
  const auto* const given = impl_->deleter.target<ContextDeleter>();
  if (given) return given->owner->borrow();
  return DataPtr(impl_->data, impl_->data, nullptr, impl_->device).borrow();
}

DataPtr Storage::set_data_ptr(DataPtr&& data) const {
  // The former memory stays in a storage of its own.
  auto former = StoragePtr::adopt(new StorageImpl);
  StorageImpl& impl = *impl_;
  std::swap(former->data, impl.data);
  std::swap(former->deleter, impl.deleter);
  std::swap(former->borrowed, impl.borrowed);
  std::swap(former->pinned, impl.pinned);
  former->device = impl.device;
  former->nbytes = impl.nbytes;
  former->label = impl.label;
  former->stream = impl.stream;
  give_memory(impl, std::move(data), impl.nbytes);
  const Device device = former->device;
  void* const address = former->data;
  return DataPtr(
      address, former.detach(),
      [](void* storage) { StorageImpl::destroy(static_cast<StorageImpl*>(storage)); }, device);
}

void Storage::set_data_ptr_noswap(DataPtr&& data) const {
  release_memory(*impl_);
  impl_->pinned = false;
  give_memory(*impl_, std::move(data), impl_->nbytes);
}

void Storage::set_nbytes(size_t nbytes) const {
  // This library frees its own memory by its size, so such memory gets an owner that remembers it.
  const bool is_own = impl_->data && !impl_->deleter && !impl_->borrowed;
  if (is_own) {
    give_memory(*impl_, set_data_ptr(DataPtr()), nbytes);
    impl_->replaceable = true;
  }
  impl_->nbytes = nbytes;
}
bool Storage::resizable() const {
  return impl_->replaceable || (!impl_->deleter && !impl_->borrowed);
}
Allocator* Storage::allocator() const {
  return impl_->allocator ? impl_->allocator : GetAllocator(impl_->device.type());
}

}  // namespace hearth
