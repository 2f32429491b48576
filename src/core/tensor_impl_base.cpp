#include "hearth/tensor_impl_base.h"

#include "core/tensor_impl.h"

namespace hearth {

namespace {

TensorImpl& of(TensorImplBase& base) { return static_cast<TensorImpl&>(base); }
const TensorImpl& of(const TensorImplBase& base) { return static_cast<const TensorImpl&>(base); }

/// A handle of the tensor.
Tensor handle(const TensorImplBase& base) {
  auto* const impl = const_cast<TensorImpl*>(&of(base));
  impl->retain();
  return Tensor(impl);
}

}  // namespace

IntArrayRef TensorImplBase::sizes() const { return of(*this).sizes(); }
IntArrayRef TensorImplBase::strides() const { return of(*this).strides(); }
int64_t TensorImplBase::size(int64_t d) const {
  return sizes()[static_cast<size_t>(wrap_dim(d, dim(), false))];
}
int64_t TensorImplBase::stride(int64_t d) const {
  return strides()[static_cast<size_t>(wrap_dim(d, dim(), false))];
}
int64_t TensorImplBase::numel() const { return of(*this).numel; }
int64_t TensorImplBase::storage_offset() const { return of(*this).offset; }
TypeMeta TensorImplBase::dtype() const { return of(*this).dtype; }
size_t TensorImplBase::itemsize() const { return element_size(of(*this).dtype); }
Device TensorImplBase::device() const { return of(*this).device; }
bool TensorImplBase::is_contiguous(MemoryFormat format) const {
  return handle(*this).is_contiguous(format);
}
bool TensorImplBase::is_inference() const { return of(*this).has(kInference); }
bool TensorImplBase::has_storage() const { return handle(*this).has_storage(); }
Storage TensorImplBase::storage() const { return handle(*this).storage(); }
const void* TensorImplBase::data() const { return handle(*this).data_ptr(); }
void* TensorImplBase::mutable_data() const { return handle(*this).data_ptr(); }

void TensorImplBase::set_sizes_contiguous(IntArrayRef sizes) { of(*this).set_sizes(sizes); }
void TensorImplBase::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides,
                                           std::optional<int64_t> storage_offset) {
  of(*this).set_geometry(sizes, strides);
  if (storage_offset) of(*this).offset = *storage_offset;
}
void TensorImplBase::set_storage_offset(int64_t offset) { of(*this).offset = offset; }
void TensorImplBase::set_storage_keep_dtype(const Storage& storage) {
  of(*this).storage = StoragePtr::share(storage.unsafeGetStorageImpl());
  of(*this).device = storage.device();
}
void TensorImplBase::set_storage_and_dtype(const Storage& storage, TypeMeta dtype) {
  set_storage_keep_dtype(storage);
  of(*this).dtype = dtype.toScalarType();
}
void TensorImplBase::bump_version() { of(*this).bump_version(); }
bool TensorImplBase::is_wrapped_number() const { return of(*this).has(kWrappedNumber); }
void TensorImplBase::set_wrapped_number(bool value) {
  HEARTH_CHECK(dim() == 0, "set_wrapped_number: the tensor has dimensions");
  uint32_t& flags = of(*this).flags;
  flags = value ? flags | kWrappedNumber : flags & ~uint32_t(kWrappedNumber);
}
bool TensorImplBase::requires_grad() const { return handle(*this).requires_grad(); }
void TensorImplBase::set_requires_grad(bool value) { handle(*this).requires_grad_(value); }
const Tensor& TensorImplBase::grad() const { return handle(*this).grad(); }
Tensor& TensorImplBase::mutable_grad() { return handle(*this).mutable_grad(); }

Tensor::Tensor(const std::shared_ptr<TensorImplBase>& impl) noexcept
    : impl_(static_cast<TensorImpl*>(impl.get())) {
  if (impl_) impl_->retain();
}

Tensor Tensor::wrap_tensor_impl(const std::shared_ptr<TensorImplBase>& impl) {
  return Tensor(impl);
}

std::shared_ptr<TensorImplBase> Tensor::getIntrusivePtr() const {
  return {std::make_shared<Tensor>(*this), unsafeGetTensorImpl()};
}

std::shared_ptr<TensorImplBase> Tensor::unsafeReleaseIntrusivePtr() {
  TensorImplBase* const impl = unsafeGetTensorImpl();
  return {std::make_shared<Tensor>(std::move(*this)), impl};
}

}  // namespace hearth
