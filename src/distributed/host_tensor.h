#pragma once

#include "hearth/tensor.h"

namespace hearth::distributed {

/// The contiguous host memory of a tensor, or a copy of it if the tensor has none.
class HostTensor {
 public:
  enum Use { kRead, kWrite, kReadWrite };

  HostTensor(const Tensor& tensor, Use use);
  void* data() const { return host_.data_ptr(); }
  int64_t bytes() const { return static_cast<int64_t>(host_.nbytes()); }
  int64_t numel() const { return host_.numel(); }
  const Tensor& tensor() const { return host_; }
  /// Puts what was written to data() into the tensor.
  void write_back() const;

 private:
  Tensor tensor_, host_;
};

/// Uninitialised host memory of this many bytes.
Tensor host_bytes(int64_t bytes);
/// The bytes of one of `count` equal parts, from `index` on.
inline char* part_of(const Tensor& memory, int64_t bytes, int64_t index) {
  return static_cast<char*>(memory.data_ptr()) + bytes * index;
}

}  // namespace hearth::distributed
