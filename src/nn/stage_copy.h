#pragma once

#include <memory>

#include "hearth/cuda.h"
#include "hearth/tensor.h"

namespace hearth::nn {

/// A point in the current stream of a device, after all work launched so far. A default-constructed
/// mark, or one of the CPU, is no point in any stream.
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

/// Copies a tensor from one stage of a pipeline to the device of another. Returns the tensor itself
/// if it is on the device already. Between GPUs, the copy runs on streams that are used for copies
/// only, so that it overlaps with kernels on the current streams. It waits for the mark `computed`,
/// by default for all work launched so far in the current stream of the tensor's device. The
/// gradient is copied back in the same way.
Tensor copy_to_stage(const Tensor& tensor, Device device, const StreamMark& computed = {});

/// A non-leaf tensor that shares the leaf's memory: it may be modified in place, and its gradient
/// is passed on to the leaf.
Tensor alias_of_leaf(const Tensor& leaf);

}  // namespace hearth::nn
