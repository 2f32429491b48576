#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/storage_impl.h"
#include "hearth/tensor.h"
#include "hearth/tensor_impl_base.h"
#include "seam/view.h"

namespace hearth {

using detail::Dims;

/// Autograd's state of a tensor, created only when needed; autograd::TensorState derives from it.
struct AutogradState {
  virtual ~AutogradState() = default;
  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;
};

static_assert(std::is_empty_v<TensorImplBase>);  // so it has the address of the TensorImpl

/// Counts in-place writes; shared by a tensor, its views and its detached aliases.
struct VersionCounter : RefCounted {
  std::atomic<uint32_t> value{0};
  static void destroy(VersionCounter* counter) noexcept { delete counter; }
};

enum TensorFlag : uint32_t {
  kRequiresGrad = 1u << 0,  // a leaf that requires a gradient
  kHasGradFn = 1u << 1,     // a result with history (or a view whose base has history)
  kIsView = 1u << 2,
  kInference = 1u << 3,
  kWrappedNumber = 1u << 4,  // a C++ number used as a tensor: does not decide the dtype
  kContiguous = 1u << 5,
  kDense = 1u << 6,  // some permutation of its dimensions is contiguous
};
/// Flags of inputs for which an op leaves the plain path (ops/history.h).
inline constexpr uint32_t kLeavesPlainPath = kRequiresGrad | kHasGradFn | kInference;

/// The implementation of a Tensor, shared by its handles: memory, metadata, flags and version.
struct TensorImpl : RefCounted, TensorImplBase {
  static constexpr int kInlineDims = 5;

  StoragePtr storage;
  int64_t offset = 0;  // in elements
  int64_t numel = 0;
  ScalarType dtype = ScalarType::Undefined;
  Device device{DeviceType::CPU};
  int8_t dim = 0;
  uint32_t flags = 0;
  int64_t* heap_dims = nullptr;  // beyond kInlineDims: 2 * dim numbers
  int64_t inline_dims[2 * kInlineDims];
  std::unique_ptr<AutogradState> autograd;

  TensorImpl() = default;
  ~TensorImpl();
  static void destroy(TensorImpl* impl) noexcept { delete impl; }
  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;

  int64_t* sizes_data() { return heap_dims ? heap_dims : inline_dims; }
  const int64_t* sizes_data() const { return heap_dims ? heap_dims : inline_dims; }
  const int64_t* strides_data() const { return sizes_data() + dim; }
  int64_t* strides_data() { return sizes_data() + dim; }
  IntArrayRef sizes() const { return {sizes_data(), static_cast<size_t>(dim)}; }
  IntArrayRef strides() const { return {strides_data(), static_cast<size_t>(dim)}; }

  bool has(uint32_t flag) const { return (flags & flag) != 0; }
  bool contiguous() const { return has(kContiguous); }
  /// The address of element 0 on the host's side; kernels use kernel_address().
  void* data() const {
    return storage && storage->data
               ? static_cast<char*>(storage->data) + offset * int64_t(element_size(dtype))
               : nullptr;
  }

  /// Sets sizes and contiguous strides; checks sign and overflow.
  void set_sizes(IntArrayRef sizes);
  /// Sets sizes and strides; checks sign and overflow, but not that the storage is large enough.
  void set_geometry(IntArrayRef sizes, IntArrayRef strides);

  uint32_t version() const;
  void bump_version();
  /// Restores the version after in-place changes that must not count, such as filling a new tensor.
  void set_version(uint32_t version);
  /// Makes this tensor share the version counter of `other`.
  void share_version(TensorImpl& other);

 private:
  void resize_dims(size_t count);
  void refresh_flags();
  VersionCounter& shared_version();
  std::atomic<VersionCounter*> version_counter_{nullptr};  // if null, own_version_ is used
  uint32_t own_version_ = 0;
};

/// The implementation of a tensor, which must be defined.
inline TensorImpl& impl_of(const Tensor& tensor) {
  return *static_cast<TensorImpl*>(tensor.unsafeGetTensorImpl());
}

/// Creates a tensor without memory or sizes.
inline Tensor new_tensor(ScalarType dtype, Device device) {
  auto* impl = new TensorImpl;
  impl->dtype = dtype;
  impl->device = device;
  return Tensor(impl);
}

/// Creates a tensor with uninitialised contiguous memory (none on meta).
Tensor allocate_tensor(IntArrayRef sizes, ScalarType dtype, Device device, bool pinned = false);
/// The same with given strides (non-negative).
Tensor allocate_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device,
                        bool pinned = false);
/// Creates a tensor over the same memory, with its own geometry and without history. If
/// share_version, both have one version counter.
Tensor shallow_alias(const Tensor& tensor, bool share_version);
/// Sets new sizes and allocates new memory if the tensor's memory is too small, as out= forms do.
void resize_tensor(const Tensor& tensor, IntArrayRef sizes);
void resize_tensor(const Tensor& tensor, IntArrayRef sizes, IntArrayRef strides);

/// The View of a tensor, for kernels.
View view_of(const TensorImpl& impl);
/// The address of element 0 for kernels.
void* kernel_address(const TensorImpl& impl);

/// The number of bytes from the start of the storage to the end of a tensor with these sizes,
/// strides and offset; throws if it overflows, a size or stride is negative or their counts differ.
size_t span_bytes(IntArrayRef sizes, IntArrayRef strides, int64_t offset, size_t itemsize);
/// Throws "setStorage: …" unless such a tensor lies inside a storage of `available` bytes.
void check_inside_storage(IntArrayRef sizes, IntArrayRef strides, int64_t offset, size_t itemsize,
                          size_t available);
/// The product of the sizes; throws if a size is negative or the product overflows int64.
int64_t checked_numel(IntArrayRef sizes);
Dims contiguous_strides(IntArrayRef sizes);
Dims channels_last_strides(IntArrayRef sizes);
/// Whether the strides of a tensor of 4 or 5 dimensions have the order of channels_last, with gaps
/// or without (PyTorch's rule); a tensor whose strides fit both orders is not channels_last.
bool has_channels_last_strides(const TensorImpl& impl);

/// Maps dim from [-ndim, ndim) to [0, ndim); throws PyTorch's IndexError if it is out of range.
/// With wrap_scalar, ndim 0 counts as 1.
int64_t wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar = true);

}  // namespace hearth
