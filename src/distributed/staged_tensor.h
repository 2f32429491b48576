#pragma once

#include <vector>

#include "hearth/tensor.h"

namespace hearth::distributed {

/// A tensor's contiguous memory on a backend's device: its own, or that of a copy.
class StagedTensor {
 public:
  enum Use { kRead, kWrite, kReadWrite };

  StagedTensor(const Tensor& tensor, Use use, Device device);
  void* data() const { return staged_.data_ptr(); }
  int64_t bytes() const { return static_cast<int64_t>(staged_.nbytes()); }
  const Tensor& staged() const { return staged_; }
  /// Copies data() back to the tensor given to the constructor.
  void write_back() const;

 private:
  Tensor tensor_, staged_;
};

/// Memory on a backend's device for several tensors of one dtype, one after another.
class StagedTensors {
 public:
  StagedTensors(const std::vector<Tensor>& tensors, Device device);
  void* data() const { return staged_.defined() ? staged_.data_ptr() : nullptr; }
  const Tensor& staged() const { return staged_; }  ///< of one dimension
  std::vector<int64_t> bytes() const;               ///< of each tensor
  void read() const;                                ///< copies the tensors to data()
  void write_back() const;                          ///< copies data() back to the tensors

 private:
  std::vector<Tensor> tensors_, parts_;
  Tensor staged_;  // undefined without tensors
};

}  // namespace hearth::distributed
