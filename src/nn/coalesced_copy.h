#pragma once

#include <vector>

#include "hearth/tensor.h"

namespace hearth::nn::parallel::detail {

/// Tensors, packed for copies to other devices: small contiguous ones of one device and dtype share
/// a flat tensor, so that one copy moves them all. All steps are recorded if recording is enabled.
class CoalescedCopy {
 public:
  /// Undefined tensors are allowed; their copies are undefined.
  explicit CoalescedCopy(const std::vector<Tensor>& tensors);
  /// Copies of all tensors on the device, in the tensors' order. A tensor of that device that is
  /// not packed is returned without a copy.
  std::vector<Tensor> to(Device device) const;

 private:
  struct Bucket {
    std::vector<size_t> members;
    Tensor flat;
  };
  std::vector<Tensor> tensors_;
  std::vector<Bucket> buckets_;
  std::vector<size_t> single_;  // copied separately
};

}  // namespace hearth::nn::parallel::detail
