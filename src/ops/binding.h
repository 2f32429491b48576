#pragma once

#include "ops/call.h"

namespace hearth {

/// Binds the output of an in-place or out= call to the caller's tensor: directly where the kernel
/// can write there, else through a temporary that finish() copies. Checks shape, dtype and overlap
/// first, so that a refused call changes nothing.
class BoundOutput {
 public:
  BoundOutput(OpCall& call, const Infer& inferred);
  const Tensor* tensors() const { return tensors_; }
  void finish();

 private:
  bool writes_directly(const Infer::Output& wanted) const;
  OpCall& call_;
  Tensor tensors_[kMaxOutputs];
  bool direct_ = true;
  bool resizes_late_ =
      false;  // the output's shape is not known yet, or resizing would pull an input's memory away
};

/// Makes an out= tensor ready to take a result: checks dtype and overlap, resizes with a warning.
void prepare_out(const Tensor& out, const Dims& sizes, ScalarType dtype);
/// Throws if writing to `tensor` would write some memory twice (an expanded tensor).
void check_no_internal_overlap(const Tensor& tensor);
/// Whether two tensors share memory without being the same view of it.
bool partially_overlap(const TensorImpl& a, const TensorImpl& b);

}  // namespace hearth
