#pragma once

#include <optional>

#include "hearth/tensor.h"

namespace hearth {

/// What a program sees of a tensor's implementation: *tensor.unsafeGetTensorImpl(). Setters check
/// signs and overflow, but not that the storage is large enough.
struct HEARTH_API TensorImplBase {
  IntArrayRef sizes() const;
  IntArrayRef strides() const;
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t dim() const { return static_cast<int64_t>(sizes().size()); }
  int64_t numel() const;
  int64_t storage_offset() const;
  TypeMeta dtype() const;
  size_t itemsize() const;
  Device device() const;
  DeviceType device_type() const { return device().type(); }
  Layout layout() const { return Layout::Strided; }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_empty() const { return numel() == 0; }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_inference() const;
  bool has_storage() const;
  Storage storage() const;
  Storage unsafe_storage() const { return storage(); }
  const void* data() const;  ///< the address of the first element
  void* mutable_data() const;

  void set_sizes_contiguous(IntArrayRef sizes);
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides,
                             std::optional<int64_t> storage_offset = {});
  void set_storage_offset(int64_t offset);
  void set_storage_keep_dtype(const Storage& storage);
  void set_storage_and_dtype(const Storage& storage, TypeMeta dtype);
  void bump_version();             ///< counts an in-place write
  bool is_wrapped_number() const;  ///< a number used as a tensor, which does not decide dtypes
  void set_wrapped_number(bool value);
  bool requires_grad() const;
  void set_requires_grad(bool value);
  const Tensor& grad() const;
  Tensor& mutable_grad();

 protected:
  ~TensorImplBase() = default;
};

}  // namespace hearth
