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

namespace autograd {
class Node;
using NodePtr = IntrusivePtr<Node>;
}  // namespace autograd

namespace detail {
/// A hook on a gradient, its return type erased: an undefined result keeps the gradient.
struct HEARTH_API GradHook {
  virtual ~GradHook();
  virtual Tensor operator()(const Tensor& grad) = 0;
};
}  // namespace detail

using TensorPair = std::tuple<Tensor, Tensor>;
using TensorTriple = std::tuple<Tensor, Tensor, Tensor>;
/// The two outputs of an out= form.
using TensorRefPair = std::tuple<Tensor&, Tensor&>;

/// An n-dimensional array: a handle, shared when copied. `const` protects the handle, not the
/// elements, so in-place methods are const.
class HEARTH_API Tensor {
 public:
  Tensor() noexcept : impl_(nullptr) {}
  /// Takes over one reference.
  explicit Tensor(TensorImpl* owned) noexcept : impl_(owned) {}
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
    Tensor taken(std::move(other));  // which leaves `other` undefined
    std::swap(impl_, taken.impl_);
    return *this;
  }
  /// Assignment to a temporary writes through: t[i][j] = x.
  Tensor& operator=(const Tensor& value) &&;
  Tensor& operator=(Tensor&& value) &&;
  Tensor& operator=(const Scalar& value) &&;
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Tensor& operator=(T value) && {
    return std::move(*this) = Scalar(value);
  }

  bool defined() const { return impl_ != nullptr; }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  void reset();
  TensorImpl* unsafeGetTensorImpl() const { return impl_; }
  TensorImpl* unsafeReleaseTensorImpl() {
    TensorImpl* impl = impl_;
    impl_ = nullptr;
    return impl;
  }
  size_t use_count() const;

  // ---- what it is
  int64_t dim() const;
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const;
  IntArrayRef strides() const;
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t numel() const;
  int64_t storage_offset() const;
  TypeMeta dtype() const { return scalar_type(); }
  ScalarType scalar_type() const;
  Device device() const;
  Layout layout() const { return Layout::Strided; }
  TensorOptions options() const;
  size_t itemsize() const { return hearth::element_size(scalar_type()); }
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_non_overlapping_and_dense() const;
  MemoryFormat suggest_memory_format() const;
  bool is_cpu() const { return defined() && device().is_cpu(); }
  bool is_cuda() const { return defined() && device().is_cuda(); }
  bool is_meta() const { return defined() && device().is_meta(); }
  /// The index of its device; -1 on the CPU.
  DeviceIndex get_device() const;
  bool is_floating_point() const { return hearth::is_floating_point(scalar_type()); }
  bool is_complex() const { return hearth::is_complex(scalar_type()); }
  bool is_signed() const { return scalar_type() != kByte && scalar_type() != kBool; }
  bool is_sparse() const { return false; }
  bool is_quantized() const { return false; }
  bool is_nested() const { return false; }
  bool is_conj() const { return false; }
  bool is_neg() const { return false; }
  bool is_pinned() const;
  bool is_inference() const;
  bool has_storage() const { return defined() && !is_meta(); }
  Storage storage() const;
  bool is_alias_of(const Tensor& other) const { return storage().is_alias_of(other.storage()); }
  std::string toString() const;
  void print() const;

  // ---- its elements
  void* data_ptr() const;
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  /// The address of the first element; "expected scalar type Float but found Double" for another T.
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
    check_accessor(dtype_of<T>, static_cast<int64_t>(N));
    return {static_cast<T*>(data_ptr()), sizes().data(), strides().data()};
  }
  /// The same with sizes and strides by value.
  template <class T, size_t N>
  PackedTensorAccessor32<T, N> packed_accessor32() const {
    check_packed_accessor(dtype_of<T>, static_cast<int64_t>(N), true);
    return {static_cast<T*>(data_ptr()), sizes().data(), strides().data()};
  }
  template <class T, size_t N>
  PackedTensorAccessor64<T, N> packed_accessor64() const {
    check_packed_accessor(dtype_of<T>, static_cast<int64_t>(N), false);
    return {static_cast<T*>(data_ptr()), sizes().data(), strides().data()};
  }

  // ---- autograd
  bool requires_grad() const;
  const Tensor& requires_grad_(bool value = true) const;
  const Tensor& set_requires_grad(bool value) const { return requires_grad_(value); }
  bool is_leaf() const;
  int64_t output_nr() const;
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  const autograd::NodePtr& grad_fn() const;
  /// Accumulates d(this)/d(leaf) into every leaf (or only `inputs`); `gradient` may be left out for
  /// a scalar.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = {},
                bool create_graph = false, std::optional<ArrayRef<Tensor>> inputs = {}) const;
  /// Calls hook(grad) when this tensor's gradient is known; it may return another one. Returns an
  /// index for remove_hook.
  template <class Hook>
  unsigned register_hook(Hook&& hook) const;
  void remove_hook(unsigned index) const;
  void retain_grad() const;
  bool retains_grad() const;
  Tensor data() const { return variable_data(); }
  Tensor variable_data() const;
  Tensor tensor_data() const;
  void set_data(const Tensor& source) const;
  int64_t _version() const;
  bool is_view() const;
  const Tensor& _base() const;
  const std::string& name() const;
  Tensor detach() const;
  const Tensor& detach_() const;

  // ---- moving and converting
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
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor type_as(const Tensor& other) const;
  Tensor cpu() const;
  Tensor cuda() const;
  Tensor meta() const;
  Tensor pin_memory() const;
  /// Says that the tensor is used on this stream too: its memory, once freed, is reused only after
  /// the work that the stream then has.
  void record_stream(const cuda::Stream& stream) const;

  // ---- indexing
  Tensor operator[](int64_t index) const;
  Tensor operator[](const Scalar& index) const;
  Tensor operator[](const Tensor& index) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& values,
                     bool accumulate = false) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& values,
                     bool accumulate = false) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices,
                     const Scalar& value) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value) const;

  // ---- operators
  Tensor operator-() const;
  Tensor operator~() const;
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
  /// *this where the condition holds, elsewhere other.
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, const Scalar& other) const;
  /// The adjoint.
  Tensor mH() const { return adjoint(); }
  Tensor matrix_H() const;

  // ---- every operator that has a method form
#include "hearth/ops/as_methods.inc"

 private:
  void release() noexcept;
  void check_type(ScalarType expected) const;
  void check_accessor(ScalarType expected, int64_t dims) const;
  void check_packed_accessor(ScalarType expected, int64_t dims, bool index32) const;
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
inline Tensor& detach_(Tensor& tensor) {
  tensor.detach_();
  return tensor;
}

/// Prints values as Python's PyTorch does.
HEARTH_API std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);
HEARTH_API std::string as_text(const Tensor& tensor);

}  // namespace hearth

// Every operator as a free function.
#include "hearth/ops/as_functions.h"
