#include "hearth/tensor.h"

#include <limits>

#include "core/device_allocator.h"
#include "core/pinned_allocator.h"
#include "core/tensor_impl.h"
#include "hearth/cuda.h"

namespace hearth {

detail::GradHook::~GradHook() = default;

Tensor::Tensor(const Tensor& other) noexcept : impl_(other.impl_) {
  if (impl_) impl_->retain();
}
void Tensor::release() noexcept {
  if (impl_->drop_unshared()) TensorImpl::destroy(impl_);
  impl_ = nullptr;
}
void Tensor::reset() { *this = Tensor(); }
size_t Tensor::use_count() const { return impl_ ? impl_->use_count() : 0; }

namespace {

const TensorImpl& defined_impl(const TensorImpl* impl) {
  HEARTH_CHECK(impl, "Expected a proper Tensor but got None (or an undefined Tensor in C++)");
  return *impl;
}

}  // namespace

// An undefined tensor has the metadata of an empty vector, as in PyTorch.
int64_t Tensor::dim() const { return impl_ ? impl_->dim : 1; }
IntArrayRef Tensor::sizes() const {
  static constexpr int64_t kEmptyVector[] = {0};
  return impl_ ? impl_->sizes() : IntArrayRef(kEmptyVector, 1);
}
IntArrayRef Tensor::strides() const {
  HEARTH_CHECK(impl_, "strides() called on an undefined Tensor");
  return impl_->strides();
}
int64_t Tensor::size(int64_t d) const { return sizes()[size_t(wrap_dim(d, dim(), false))]; }
int64_t Tensor::stride(int64_t d) const { return strides()[size_t(wrap_dim(d, dim(), false))]; }
int64_t Tensor::numel() const { return impl_ ? impl_->numel : 0; }
int64_t Tensor::storage_offset() const { return impl_ ? impl_->offset : 0; }
ScalarType Tensor::scalar_type() const { return impl_ ? impl_->dtype : ScalarType::Undefined; }
Device Tensor::device() const {
  HEARTH_CHECK(impl_, "tensor does not have a device (it is undefined)");
  return impl_->device;
}
DeviceIndex Tensor::get_device() const { return device().index(); }
TensorOptions Tensor::options() const { return TensorOptions(scalar_type()).device(device()); }

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (!impl_) return true;
  const TensorImpl& impl = *impl_;
  if (format == MemoryFormat::Contiguous) return impl.contiguous();
  const int dims = format == MemoryFormat::ChannelsLast     ? 4
                   : format == MemoryFormat::ChannelsLast3d ? 5
                                                            : -1;
  if (impl.dim != dims) return false;
  const Dims wanted = channels_last_strides(impl.sizes());
  for (size_t d = 0; d < size_t(impl.dim); ++d)
    if (impl.sizes_data()[d] != 1 && impl.strides_data()[d] != wanted[d]) return false;
  return true;
}

bool Tensor::is_non_overlapping_and_dense() const { return !impl_ || impl_->has(kDense); }

MemoryFormat Tensor::suggest_memory_format() const {
  if (!impl_ || !has_channels_last_strides(*impl_)) return MemoryFormat::Contiguous;
  return impl_->dim == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

bool Tensor::is_pinned() const {
  const TensorImpl& impl = defined_impl(impl_);
  return impl.device.is_cpu() && impl.storage && impl.storage->data &&
         hearth::is_pinned(impl.storage->data);
}

void Tensor::record_stream(const cuda::Stream& stream) const {
  const TensorImpl& impl = defined_impl(impl_);
  HEARTH_CHECK_AS(NotImplementedError, impl.device.is_cuda(),
                  "Could not run 'aten::record_stream' with arguments from the '",
                  name_of(impl.device.type()), "' backend: streams use only GPU memory");
  HEARTH_CHECK(stream.device() == impl.device, "record_stream: the tensor is on ", impl.device,
               ", but the stream on ", stream.device());
  if (impl.storage) device_record_stream(impl.storage->data, impl.device, stream.handle());
}

Storage Tensor::storage() const {
  HEARTH_CHECK(impl_, "Cannot access storage of an undefined tensor (UndefinedTensorImpl)");
  return Storage(StoragePtr(impl_->storage).detach());
}

void* Tensor::data_ptr() const {
  HEARTH_CHECK(impl_ && !impl_->device.is_meta(),
               "Cannot access data pointer of Tensor that doesn't have storage (it is ",
               impl_ ? "on the meta device)" : "undefined)");
  return impl_->data();
}

void Tensor::check_type(ScalarType expected) const {
  HEARTH_CHECK(scalar_type() == expected, "expected scalar type ", name_of(expected), " but found ",
               name_of(scalar_type()));
}

void Tensor::check_accessor(ScalarType expected, int64_t dims, bool on_cpu,
                            size_t index_bytes) const {
  HEARTH_CHECK(dim() == dims, "TensorAccessor expected ", dims, " dims but tensor has ", dim());
  check_type(expected);
  HEARTH_CHECK(on_cpu ? is_cpu() : !is_meta(),
               on_cpu ? "accessor() needs a CPU tensor, but this one is on "
                      : "an accessor needs memory, but this tensor is on ",
               device());
  HEARTH_CHECK(index_bytes == 8 || numel() < int64_t{1} << (8 * index_bytes - 1),
               "numel needs to be smaller than int32_t max; otherwise, please use "
               "packed_accessor64");
}

std::string Tensor::toString() const {
  if (!defined()) return "UndefinedType";
  return detail::str(is_cuda()   ? "CUDA"
                     : is_meta() ? "Meta"
                                 : "CPU",
                     name_of(scalar_type()), "Type");
}

}  // namespace hearth
