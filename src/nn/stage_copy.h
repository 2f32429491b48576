#pragma once

#include <memory>

#include "hearth/cuda.h"
#include "hearth/tensor.h"

namespace hearth::nn {

/// The end of the work so far in the current stream of a device; by default, of no work.
class StreamMark {
 public:
  StreamMark() = default;
  explicit StreamMark(Device device);
  explicit operator bool() const { return event_ != nullptr; }
  /// The stream's later work waits for the mark.
  void make_wait(const cuda::Stream& stream) const { event_->wait(stream); }

 private:
  std::shared_ptr<cuda::Event> event_;
};

/// The tensor on another device, copied on streams that are used for copies only, so that it
/// overlaps with kernels on the current streams. It waits for `computed`, or without that for the
/// work so far in the current stream of the tensor's device. The gradient is copied back in the
/// same way. On its own device, the tensor itself.
Tensor copy_to_stage(const Tensor& tensor, Device device, const StreamMark& computed = {});

/// A result with the leaf's values and memory. Unlike the leaf it may be modified in place, and its
/// gradient is the leaf's.
Tensor alias_of_leaf(const Tensor& leaf);

}  // namespace hearth::nn
