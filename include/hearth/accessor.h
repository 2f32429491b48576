#pragma once

#include <cstddef>
#include <cstdint>

#include "hearth/half.h"
#include "hearth/shape.h"

namespace hearth {

/// The pointer type T* of accessors; a program may pass traits of its own instead.
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};

/// The pointer type of accessors whose memory no other pointer of the function accesses.
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

/// Unchecked element access a[i][j] to a tensor's memory; see Tensor::accessor.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = int64_t>
class TensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  HEARTH_HOST_DEVICE TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  HEARTH_HOST_DEVICE decltype(auto) operator[](Index i) const {
    if constexpr (N == 1)
      return (data_[i * strides_[0]]);
    else
      return TensorAccessor<T, N - 1, PtrTraits, Index>(data_ + i * strides_[0], sizes_ + 1,
                                                        strides_ + 1);
  }
  ArrayRef<Index> sizes() const { return {sizes_, N}; }
  ArrayRef<Index> strides() const { return {strides_, N}; }
  HEARTH_HOST_DEVICE Index size(size_t dim) const { return sizes_[dim]; }
  HEARTH_HOST_DEVICE Index stride(size_t dim) const { return strides_[dim]; }
  HEARTH_HOST_DEVICE PtrType data() const { return data_; }

 private:
  PtrType data_;
  const Index* sizes_;
  const Index* strides_;
};

/// A TensorAccessor with its own copy of the sizes and strides, so that it can outlive the tensor
/// object whose memory it accesses, and can be an argument of a CUDA kernel.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  GenericPackedTensorAccessor(PtrType data, const int64_t* sizes, const int64_t* strides)
      : data_(data) {
    for (size_t d = 0; d < N; ++d) {
      sizes_[d] = static_cast<Index>(sizes[d]);
      strides_[d] = static_cast<Index>(strides[d]);
    }
  }
  HEARTH_HOST_DEVICE decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, N, PtrTraits, Index>(data_, sizes_, strides_)[i];
  }
  HEARTH_HOST_DEVICE Index size(size_t dim) const { return sizes_[dim]; }
  HEARTH_HOST_DEVICE Index stride(size_t dim) const { return strides_[dim]; }
  HEARTH_HOST_DEVICE PtrType data() const { return data_; }

 private:
  PtrType data_;
  Index sizes_[N];
  Index strides_[N];
};
/// GenericPackedTensorAccessor with 32-bit indices.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
/// GenericPackedTensorAccessor with 64-bit indices.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;

}  // namespace hearth
