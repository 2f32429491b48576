#include "core/tensor_impl.h"

#include <new>

#include "core/backends.h"
#include "core/cpu_allocator.h"

namespace hearth {

void* TensorImpl::operator new(size_t bytes) { return object_allocate(bytes); }
void TensorImpl::operator delete(void* memory, size_t bytes) noexcept {
  object_free(memory, bytes);
}
void* AutogradState::operator new(size_t bytes) { return object_allocate(bytes); }
void AutogradState::operator delete(void* memory, size_t bytes) noexcept {
  object_free(memory, bytes);
}

TensorImpl::~TensorImpl() {
  delete[] heap_dims;
  if (VersionCounter* counter = version_counter_.load(std::memory_order_relaxed);
      counter && counter->drop())
    VersionCounter::destroy(counter);
}

void TensorImpl::resize_dims(size_t count) {
  HEARTH_CHECK(count <= size_t(kMaxDims), "tensors of more than ", kMaxDims,
               " dimensions are not supported (got ", count, ")");
  if (count > size_t(kInlineDims)) {
    if (int8_t(count) != dim || !heap_dims) {
      delete[] heap_dims;
      heap_dims = nullptr;
      heap_dims = new int64_t[2 * count];
    }
  } else if (heap_dims) {
    delete[] heap_dims;
    heap_dims = nullptr;
  }
  dim = static_cast<int8_t>(count);
}

int64_t checked_numel(IntArrayRef sizes) {
  int64_t product = 1;
  bool overflow = false, empty = false;
  for (int64_t size : sizes) {
    HEARTH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(product, size, &product);
  }
  if (empty) return 0;
  HEARTH_CHECK(!overflow, "Storage size calculation overflowed with sizes=", sizes);
  return product;
}

namespace {

/// Replaces the contiguous stride of a dimension of this size by that of the next outer dimension.
inline void next_stride(int64_t& stride, int64_t size) {
  const bool overflow = size > 1 && __builtin_mul_overflow(stride, size, &stride);
  HEARTH_CHECK(!overflow, "Stride calculation overflowed");
}

}  // namespace

void TensorImpl::set_sizes(IntArrayRef sizes) {
  const int64_t count = checked_numel(sizes);
  resize_dims(sizes.size());
  numel = count;
  int64_t* size = sizes_data();
  int64_t* stride = strides_data();
  int64_t step = 1;
  for (int d = dim - 1; d >= 0; --d) {
    size[d] = sizes[size_t(d)];
    stride[d] = step;
    if (d > 0) next_stride(step, size[d]);
  }
  flags |= kContiguous | kDense;
}

void TensorImpl::set_geometry(IntArrayRef sizes, IntArrayRef strides) {
  HEARTH_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape");
  const int64_t count = checked_numel(sizes);
  resize_dims(sizes.size());
  numel = count;
  for (size_t d = 0; d < sizes.size(); ++d) {
    sizes_data()[d] = sizes[d];
    strides_data()[d] = strides[d];
  }
  refresh_flags();
}

namespace {

bool has_contiguous_strides(IntArrayRef sizes, IntArrayRef strides) {
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (strides[d] != step) return false;
    step *= sizes[d];
  }
  return true;
}

bool is_dense(IntArrayRef sizes, IntArrayRef strides) {
  Dims order = Dims::uninitialized(sizes.size());
  for (size_t d = 0; d < order.size(); ++d) {
    size_t k = d;
    for (; k > 0 && strides[size_t(order[k - 1])] > strides[d]; --k) order[k] = order[k - 1];
    order[k] = int64_t(d);
  }
  int64_t step = 1;
  for (int64_t d : order) {
    if (sizes[size_t(d)] == 1) continue;
    if (strides[size_t(d)] != step) return false;
    step *= sizes[size_t(d)];
  }
  return true;
}

}  // namespace

void TensorImpl::refresh_flags() {
  flags &= ~uint32_t(kContiguous | kDense);
  if (numel == 0 || has_contiguous_strides(sizes(), strides()))
    flags |= kContiguous | kDense;
  else if (is_dense(sizes(), strides()))
    flags |= kDense;
}

uint32_t TensorImpl::version() const {
  const VersionCounter* counter = version_counter_.load(std::memory_order_acquire);
  return counter ? counter->value.load(std::memory_order_relaxed) : own_version_;
}

void TensorImpl::bump_version() {
  if (VersionCounter* counter = version_counter_.load(std::memory_order_acquire))
    counter->value.fetch_add(1, std::memory_order_relaxed);
  else
    ++own_version_;
}

void TensorImpl::set_version(uint32_t version) {
  own_version_ = version;
  if (VersionCounter* counter = version_counter_.load(std::memory_order_acquire))
    counter->value.store(version, std::memory_order_relaxed);
}

VersionCounter& TensorImpl::shared_version() {
  VersionCounter* counter = version_counter_.load(std::memory_order_acquire);
  if (counter) return *counter;
  auto* created = new VersionCounter;
  created->value.store(own_version_, std::memory_order_relaxed);
  // Two threads may take views of one tensor at the same time.
  if (version_counter_.compare_exchange_strong(counter, created, std::memory_order_acq_rel))
    return *created;
  delete created;
  return *counter;
}

void TensorImpl::share_version(TensorImpl& other) {
  VersionCounter& counter = other.shared_version();
  counter.retain();
  VersionCounter* mine = version_counter_.exchange(&counter, std::memory_order_acq_rel);
  if (mine && mine->drop()) VersionCounter::destroy(mine);
}

Dims contiguous_strides(IntArrayRef sizes) {
  Dims strides = Dims::uninitialized(sizes.size());
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    if (d > 0) next_stride(step, sizes[d]);
  }
  return strides;
}

Dims channels_last_strides(IntArrayRef sizes) {
  Dims strides = Dims::uninitialized(sizes.size());
  int64_t step = 1;
  const auto set = [&](size_t d) {
    strides[d] = step;
    if (d > 0) next_stride(step, sizes[d]);
  };
  set(1);
  for (size_t d = sizes.size(); d-- > 2;) set(d);
  set(0);
  return strides;
}

bool has_channels_last_strides(const TensorImpl& impl) {
  if ((impl.dim != 4 && impl.dim != 5) || impl.numel == 0) return false;
  const int64_t* sizes = impl.sizes_data();
  const int64_t* strides = impl.strides_data();
  if (strides[1] == 0) return false;
  int64_t min_stride = 0;
  const auto grows = [&](int d) {
    if (strides[d] < min_stride) return false;
    min_stride = strides[d] * sizes[d];
    return true;
  };
  if (!grows(1)) return false;
  for (int d = impl.dim - 1; d >= 2; --d)
    if (!grows(d)) return false;
  return min_stride != strides[1] && grows(0);
}

size_t span_bytes(IntArrayRef sizes, IntArrayRef strides, int64_t offset, size_t itemsize) {
  HEARTH_CHECK(sizes.size() == strides.size(), "unequal size length (", sizes.size(),
               ") and stride length (", strides.size(), ")");
  int64_t last = offset;
  bool overflow = false, is_negative = false, is_empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    is_negative |= sizes[d] < 0 || strides[d] < 0;
    is_empty |= sizes[d] == 0;
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(sizes[d] - 1, strides[d], &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  int64_t bytes = 0;
  overflow |= __builtin_add_overflow(last, int64_t(1), &last);
  overflow |= __builtin_mul_overflow(last, int64_t(itemsize), &bytes);
  HEARTH_CHECK(!is_negative && (is_empty || !overflow),
               "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  return is_empty ? 0 : static_cast<size_t>(bytes);
}

void check_inside_storage(IntArrayRef sizes, IntArrayRef strides, int64_t offset, size_t itemsize,
                          size_t available) {
  const size_t needed = span_bytes(sizes, strides, offset, itemsize);
  HEARTH_CHECK(needed <= available, "setStorage: sizes ", sizes, ", strides ", strides,
               ", storage offset ", offset, ", and itemsize ", itemsize,
               " requiring a storage size of ", needed, " are out of bounds for storage of size ",
               available);
}

Tensor allocate_tensor(IntArrayRef sizes, ScalarType dtype, Device device, bool pinned) {
  Tensor result = new_tensor(dtype, device);
  TensorImpl& impl = impl_of(result);
  impl.set_sizes(sizes);
  int64_t bytes = 0;
  HEARTH_CHECK(!__builtin_mul_overflow(impl.numel, int64_t(element_size(dtype)), &bytes),
               "Storage size calculation overflowed with sizes=", sizes);
  impl.storage = new_storage(static_cast<size_t>(bytes), device, pinned);
  return result;
}

Tensor allocate_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device,
                        bool pinned) {
  Tensor result = new_tensor(dtype, device);
  TensorImpl& impl = impl_of(result);
  impl.set_geometry(sizes, strides);
  for (int64_t stride : strides)
    HEARTH_CHECK(
        stride >= 0,
        "as_strided: Negative strides are not supported at the moment, got strides: ", strides);
  impl.storage = new_storage(span_bytes(sizes, strides, 0, element_size(dtype)), device, pinned);
  return result;
}

Tensor shallow_alias(const Tensor& tensor, bool share_version) {
  TensorImpl& source = impl_of(tensor);
  Tensor result = new_tensor(source.dtype, source.device);
  TensorImpl& impl = impl_of(result);
  impl.set_geometry(source.sizes(), source.strides());
  impl.storage = source.storage;
  impl.offset = source.offset;
  impl.flags |= source.flags & kInference;
  if (share_version) impl.share_version(source);
  return result;
}

void resize_tensor(const Tensor& tensor, IntArrayRef sizes) {
  checked_numel(sizes);
  resize_tensor(tensor, sizes, contiguous_strides(sizes));
}

void resize_tensor(const Tensor& tensor, IntArrayRef sizes, IntArrayRef strides) {
  TensorImpl& impl = impl_of(tensor);
  checked_numel(sizes);
  // Memory first, so that a failed allocation leaves the tensor unchanged.
  const size_t needed = span_bytes(sizes, strides, impl.offset, element_size(impl.dtype));
  if (!impl.storage) impl.storage = new_storage(needed, impl.device);
  if (impl.storage->nbytes < needed) grow_storage(*impl.storage, needed);
  impl.set_geometry(sizes, strides);
}

void* kernel_address(const TensorImpl& impl) {
  void* data = impl.data();
  if (!data) [[unlikely]] {
    HEARTH_CHECK(impl.numel == 0 || impl.device.is_meta(),
                 "The tensor has a non-zero number of elements, but its data is not allocated yet. "
                 "The tensor has the sizes ",
                 impl.sizes(), "; resize_storage_() has freed the memory of its storage");
    return nullptr;
  }
  return impl.device.is_cuda() ? backend_of(impl.device).kernel_address(impl.device.index(), data)
                               : data;
}

View view_of(const TensorImpl& impl) {
  View view;
  view.data = kernel_address(impl);
  view.dtype = impl.dtype;
  view.dim = impl.dim;
  view.numel = impl.numel;
  for (int d = 0; d < impl.dim; ++d) {
    view.sizes[d] = impl.sizes_data()[d];
    view.strides[d] = impl.strides_data()[d];
  }
  return view;
}

int64_t wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar) {
  if (ndim == 0) {
    HEARTH_CHECK_AS(IndexError, wrap_scalar, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
    ndim = 1;
  }
  HEARTH_CHECK_AS(IndexError, dim >= -ndim && dim < ndim,
                  "Dimension out of range (expected to be in range of [", -ndim, ", ", ndim - 1,
                  "], but got ", dim, ")");
  return dim < 0 ? dim + ndim : dim;
}

}  // namespace hearth
