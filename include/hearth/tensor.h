#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "hearth/accessor.h"
#include "hearth/device.h"
#include "hearth/dtype.h"
#include "hearth/export.h"
#include "hearth/fwd.h"
#include "hearth/generator.h"
#include "hearth/intrusive.h"
#include "hearth/options.h"
#include "hearth/padding_name.h"
#include "hearth/scalar.h"
#include "hearth/shape.h"
#include "hearth/storage.h"

namespace hearth {

struct TensorImpl;
struct TensorImplBase;  // in tensor_impl_base.h

namespace autograd {
class Node;
using NodePtr = IntrusivePtr<Node>;
}  // namespace autograd

namespace detail {
/// Type-erased hook of a gradient; an undefined result keeps the gradient.
struct HEARTH_API GradHook {
  virtual ~GradHook();
  virtual Tensor operator()(const Tensor& grad) = 0;
};
}  // namespace detail

using TensorPair = std::tuple<Tensor, Tensor>;            ///< the result of an op with two outputs
using TensorTriple = std::tuple<Tensor, Tensor, Tensor>;  ///< the result of an op with three
using TensorQuad = std::tuple<Tensor, Tensor, Tensor, Tensor>;  ///< the result of an op with four
using TensorRefPair = std::tuple<Tensor&, Tensor&>;             ///< the two outputs of an out= form
using TensorRefTriple = std::tuple<Tensor&, Tensor&, Tensor&>;  ///< three outputs
using TensorRefQuad = std::tuple<Tensor&, Tensor&, Tensor&, Tensor&>;  ///< four outputs

using TensorAndList = std::tuple<Tensor, std::vector<Tensor>>;  ///< a tensor and a list

/// An n-dimensional array. Copies of the handle share the array. `const` protects the handle, not
/// the elements, so in-place methods are const.
class HEARTH_API Tensor {
 public:
  Tensor() noexcept : impl_(nullptr) {}                          ///< an undefined tensor
  explicit Tensor(TensorImpl* owned) noexcept : impl_(owned) {}  ///< takes over one reference
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept : impl_(other.impl_) { other.impl_ = nullptr; }
  ~Tensor() {
    if (impl_) release();
  }
  Tensor& operator=(const Tensor& other) & noexcept {
    Tensor copy(other);
    return *this = std::move(copy);
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    Tensor taken(std::move(other));  // leaves `other` undefined
    std::swap(impl_, taken.impl_);
    return *this;
  }
  /// Assignment to a temporary writes to its elements: t[i][j] = x.
  Tensor& operator=(const Tensor& value) &&;
  Tensor& operator=(Tensor&& value) &&;
  Tensor& operator=(const Scalar& value) &&;
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Tensor& operator=(T value) && {
    return std::move(*this) = Scalar(value);
  }

  bool defined() const { return impl_ != nullptr; }                         ///< false for Tensor()
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }  ///< the same object
  void reset();  ///< makes the handle undefined
  /// Another handle of a tensor, for LibTorch's pointers to implementations.
  explicit Tensor(const std::shared_ptr<TensorImplBase>& impl) noexcept;
  static Tensor wrap_tensor_impl(const std::shared_ptr<TensorImplBase>& impl);
  /// The implementation, whose empty base class has the same address.
  TensorImplBase* unsafeGetTensorImpl() const { return reinterpret_cast<TensorImplBase*>(impl_); }
  TensorImplBase* unsafeReleaseTensorImpl() {
    TensorImplBase* impl = unsafeGetTensorImpl();
    impl_ = nullptr;
    return impl;
  }
  std::shared_ptr<TensorImplBase> getIntrusivePtr() const;      ///< an owner of the implementation
  std::shared_ptr<TensorImplBase> unsafeReleaseIntrusivePtr();  ///< the same; gives up this one
  size_t use_count() const;  ///< the number of handles of this tensor

  // ---- metadata
  int64_t dim() const;  ///< the number of dimensions
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const;          ///< the size of each dimension
  IntArrayRef strides() const;        ///< distances in memory along each dimension, in elements
  int64_t size(int64_t dim) const;    ///< negative dimensions count from the end
  int64_t stride(int64_t dim) const;  ///< negative dimensions count from the end
  int64_t numel() const;              ///< the number of elements
  int64_t storage_offset() const;     ///< index of the first element in the storage
  TypeMeta dtype() const { return scalar_type(); }  ///< prints as the C++ type
  ScalarType scalar_type() const;                   ///< the dtype as a ScalarType
  Device device() const;                            ///< the device of the elements
  Layout layout() const { return Layout::Strided; }
  TensorOptions options() const;  ///< dtype and device, for tensors like this one
  size_t itemsize() const { return hearth::element_size(scalar_type()); }  ///< bytes of an element
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_non_overlapping_and_dense() const;   ///< contiguous in some order of dimensions
  MemoryFormat suggest_memory_format() const;  ///< the format that fits the strides
  bool is_cpu() const { return defined() && device().is_cpu(); }
  bool is_cuda() const { return defined() && device().is_cuda(); }
  bool is_meta() const { return defined() && device().is_meta(); }
  DeviceIndex get_device() const;  ///< the index of the GPU; -1 on the CPU
  bool is_floating_point() const { return hearth::is_floating_point(scalar_type()); }
  bool is_complex() const { return hearth::is_complex(scalar_type()); }
  bool is_signed() const { return hearth::is_signed(scalar_type()); }
  bool is_hip() const { return false; }
  bool is_mps() const { return false; }
  bool is_xpu() const { return false; }
  bool is_hpu() const { return false; }
  bool is_ipu() const { return false; }
  bool is_lazy() const { return false; }
  bool is_maia() const { return false; }
  bool is_metal() const { return false; }
  bool is_mtia() const { return false; }
  bool is_privateuseone() const { return false; }
  bool is_ve() const { return false; }
  bool is_vulkan() const { return false; }
  bool is_xla() const { return false; }
  bool is_mkldnn() const { return false; }
  bool is_sparse() const { return false; }
  bool is_sparse_csr() const { return false; }
  bool is_quantized() const { return false; }
  bool is_nested() const { return false; }
  bool is_conj() const { return false; }
  bool is_neg() const { return false; }
  bool is_pinned() const;     ///< whether it is in page-locked memory
  bool is_inference() const;  ///< whether it was created in inference mode
  bool has_storage() const { return defined() && !is_meta(); }  ///< whether it has memory
  Storage storage() const;                                      ///< the memory
  /// Moves the memory of a CPU tensor to pages that processes forked later share.
  void share_memory_() const;
  bool has_names() const { return false; }  ///< named dimensions do not exist
  bool is_alias_of(const Tensor& other) const { return storage().is_alias_of(other.storage()); }
  bool is_set_to(const Tensor& tensor) const;  ///< whether memory, offset, sizes and strides agree
  std::string toString() const;                ///< the type, such as "CPUFloatType"
  DispatchKeySet key_set() const;              ///< in dispatch_key.h
  /// contiguous(format), or a reference to this tensor; in compat/c10/util/MaybeOwned.h.
  MaybeOwned<Tensor> expect_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const&;
  MaybeOwned<Tensor> expect_contiguous(MemoryFormat format = MemoryFormat::Contiguous) && = delete;
  // LibTorch's functions for sizes that may be symbolic; in sym_int.h.
  SymInt sym_size(int64_t dim) const;
  SymInt sym_stride(int64_t dim) const;
  SymInt sym_numel() const;
  SymInt sym_storage_offset() const;
  ArrayRef<SymInt> sym_sizes() const;
  ArrayRef<SymInt> sym_strides() const;
  void print() const;  ///< prints the tensor to std::cout

  // ---- elements
  void* data_ptr() const;  ///< the address of the first element
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  /// The address of the first element; throws if the dtype is not T.
  template <class T>
  T* data_ptr() const {
    check_type(dtype_of<std::remove_const_t<T>>);
    return static_cast<T*>(data_ptr());
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  /// The single element of a one-element tensor; waits for the device.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }
  /// Indexed access to a CPU tensor of T with N dimensions.
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const {
    check_accessor(dtype_of<std::remove_const_t<T>>, N, true, sizeof(int64_t));
    return {static_cast<T*>(data_ptr()), sizes().data(), strides().data()};
  }
  /// An accessor with a copy of sizes and strides, also for CUDA tensors in your own kernels.
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> generic_packed_accessor() const {
    check_accessor(dtype_of<std::remove_const_t<T>>, N, false, sizeof(Index));
    return {static_cast<T*>(data_ptr()), sizes().data(), strides().data()};
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const {
    return generic_packed_accessor<T, N, PtrTraits, int32_t>();
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const {
    return generic_packed_accessor<T, N, PtrTraits, int64_t>();
  }

  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> packed_accessor() const {
    return generic_packed_accessor<T, N, PtrTraits, Index>();  // the old name
  }

  // ---- autograd
  bool requires_grad() const;  ///< whether operations on it are recorded
  const Tensor& requires_grad_(bool value = true) const;
  const Tensor& set_requires_grad(bool value) const { return requires_grad_(value); }
  bool is_leaf() const;                      ///< whether it is not the result of a recorded op
  int64_t output_nr() const;                 ///< its index among the outputs of grad_fn()
  const Tensor& grad() const;                ///< the gradient, undefined before backward()
  Tensor& mutable_grad() const;              ///< the gradient for modification
  const autograd::NodePtr& grad_fn() const;  ///< the recorded op; null for leaves
  /// Adds d(this)/d(leaf) to grad() of all leaves, or only of `inputs`. `gradient` is the gradient
  /// of this tensor; by default it is 1, if this tensor has one element.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = {},
                bool create_graph = false, std::optional<ArrayRef<Tensor>> inputs = {}) const;
  /// Registers hook(grad), called with this tensor's gradient; a tensor that the hook returns
  /// replaces the gradient. Returns an index for remove_hook.
  template <class Hook>
  unsigned register_hook(Hook&& hook) const;
  void remove_hook(unsigned index) const;  ///< removes a hook of register_hook
  void retain_grad() const;                ///< makes backward() keep grad() of a non-leaf tensor
  bool retains_grad() const;               ///< whether retain_grad() is in effect
  Tensor data() const { return variable_data(); }  ///< as variable_data()
  /// As data_ptr<T>(); deprecated in LibTorch.
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  Tensor variable_data() const;               ///< detach() with a version counter of its own
  Tensor tensor_data() const;                 ///< the same as variable_data()
  void set_data(const Tensor& source) const;  ///< replaces metadata and memory by those of `source`
  /// Replaces memory, sizes and strides by those of `source` or by the given ones; without
  /// arguments, by none. Memory of a storage that is too small grows.
  Tensor& set_(const Tensor& source) const;
  Tensor& set_(const Tensor& source, int64_t offset, IntArrayRef size,
               IntArrayRef stride = {}) const;
  Tensor& set_(Storage source) const;
  Tensor& set_(Storage source, int64_t offset, IntArrayRef size, IntArrayRef stride = {}) const;
  Tensor& set_() const;
  DeprecatedTypeProperties type() const;  ///< in compat/ATen/core/DeprecatedTypeProperties.h
  int64_t _version() const;               ///< the number of in-place changes
  bool is_view() const;                   ///< whether it is a recorded view
  const Tensor& _base() const;            ///< the tensor that it is a view of
  const std::string& name() const;
  Tensor _fw_grad(uint64_t level) const;   ///< the tangent (autograd/forward_ad.h); or undefined
  Tensor _fw_primal(int64_t level) const;  ///< the tensor without its tangent
  Tensor detach() const;                   ///< a tensor without history that shares the memory
  Tensor& detach_() const;                 ///< drops the history of this tensor

  // ---- conversion
  /// This tensor with another dtype, device or format; itself if nothing differs, unless `copy`.
  Tensor to(const TensorOptions& options = {}, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = {}) const;
  Tensor to(Device device, ScalarType type, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = {}) const;
  Tensor to(ScalarType type, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = {}) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> format = {}) const;
  Tensor to(TypeMeta type, bool non_blocking = false, bool copy = false) const {
    return to(type.toScalarType(), non_blocking, copy);
  }
  Tensor to(Device device, TypeMeta type, bool non_blocking = false, bool copy = false) const {
    return to(device, type.toScalarType(), non_blocking, copy);
  }
  Tensor toType(ScalarType type) const { return to(type); }  ///< to(type)
  Tensor type_as(const Tensor& other) const;                 ///< to(other's dtype and device)
  Tensor cpu() const;                                        ///< to(kCPU)
  Tensor cuda() const;                                       ///< to(kCUDA), the current GPU
  Tensor meta() const;                                       ///< to(kMeta), without the elements
  Tensor pin_memory() const;                                 ///< the tensor in page-locked memory
  /// Declares a use of the tensor on this stream: when the tensor is freed, its memory is reused
  /// only after the stream has finished the work submitted until then.
  void record_stream(const cuda::Stream& stream) const;

  // ---- indexing
  Tensor operator[](int64_t index) const;  ///< self[index], a view without dimension 0
  Tensor operator[](const Scalar& index) const;
  Tensor operator[](const Tensor& index) const;
  /// Python's self[indices].
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  /// The same with one tensor per dimension; nullopt or an undefined one stands for all elements.
  Tensor index(ArrayRef<std::optional<Tensor>> indices) const;
  /// Python's self[indices] = values, or += with `accumulate`.
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& values,
                     bool accumulate = false) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& values,
                     bool accumulate = false) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices,
                     const Scalar& value) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value) const;
  Tensor& index_put_(ArrayRef<std::optional<Tensor>> indices, const Tensor& values,
                     bool accumulate = false) const;
  /// index_put_ of a copy.
  Tensor index_put(ArrayRef<std::optional<Tensor>> indices, const Tensor& values,
                   bool accumulate = false) const;

  // ---- operators
  Tensor operator-() const;  ///< neg()
  Tensor operator~() const;  ///< bitwise_not()
  Tensor& operator+=(const Tensor& other);
  Tensor& operator+=(const Scalar& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator-=(const Scalar& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator*=(const Scalar& other);
  Tensor& operator/=(const Tensor& other);
  Tensor& operator/=(const Scalar& other);
  Tensor& operator&=(const Tensor& other);
  Tensor& operator|=(const Tensor& other);
  Tensor& operator^=(const Tensor& other);
  /// condition ? *this : other, elementwise.
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, const Scalar& other) const;
  Tensor mH() const { return adjoint(); }  ///< the conjugate transpose of each matrix
  Tensor matrix_H() const;                 ///< the conjugate transpose of a matrix

  // ---- all operators that have a method form
#include "hearth/ops/as_methods.inc"

 private:
  void release() noexcept;
  void check_type(ScalarType expected) const;
  void check_accessor(ScalarType expected, int64_t dims, bool on_cpu, size_t index_bytes) const;
  unsigned add_hook(std::unique_ptr<detail::GradHook> hook) const;

  TensorImpl* impl_;
};

template <class Hook>
unsigned Tensor::register_hook(Hook&& hook) const {
  using Function = std::decay_t<Hook>;
  struct Holder final : detail::GradHook {
    explicit Holder(Function f) : function(std::move(f)) {}
    Tensor operator()(const Tensor& grad) override {
      if constexpr (std::is_void_v<std::invoke_result_t<Function&, Tensor>>) {
        function(grad);
        return {};
      } else {
        return function(grad);
      }
    }
    Function function;
  };
  return add_hook(std::make_unique<Holder>(std::forward<Hook>(hook)));
}

// Methods as free functions.
inline bool is_floating_point(const Tensor& tensor) { return tensor.is_floating_point(); }
inline bool is_complex(const Tensor& tensor) { return tensor.is_complex(); }
inline bool is_signed(const Tensor& tensor) { return tensor.is_signed(); }
inline bool is_inference(const Tensor& tensor) { return tensor.is_inference(); }
inline bool is_conj(const Tensor& tensor) { return tensor.is_conj(); }
inline bool is_neg(const Tensor& tensor) { return tensor.is_neg(); }
inline int64_t numel(const Tensor& tensor) { return tensor.numel(); }
inline int64_t size(const Tensor& tensor, int64_t dim) { return tensor.size(dim); }
inline int64_t stride(const Tensor& tensor, int64_t dim) { return tensor.stride(dim); }
inline Tensor detach(const Tensor& tensor) { return tensor.detach(); }
inline Tensor& detach_(Tensor& tensor) { return tensor.detach_(); }

/// Prints the tensor as PyTorch does in Python.
HEARTH_API std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);
HEARTH_API std::string as_text(const Tensor& tensor);

}  // namespace hearth

// All operators that have a function form.
#include "hearth/ops/as_functions.h"
