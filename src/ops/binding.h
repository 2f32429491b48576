#pragma once

#include "ops/call.h"

namespace hearth {

/// Binds the outputs of an in-place or out= call to the caller's tensors (targets). The kernel
/// writes to a target directly if it can, else to a temporary that finish() copies. All checks of
/// shape, dtype and overlap come first, so that a refused call changes nothing.
class BoundOutputs {
 public:
  BoundOutputs(OpCall& call, const InferContext& inferred);
  const Outputs& tensors() const { return tensors_; }
  void finish();

 private:
  enum class WriteMode : uint8_t {
    kDirect,
    kCopy,
    kResizeLate,  // the shape is not known yet, or differs and an input shares the memory
  };
  void check(const Tensor& target, const InferContext::Output& wanted) const;
  void choose_write_mode(size_t i, const InferContext::Output& wanted);
  void bind(size_t i, const InferContext::Output& wanted);
  void check_inputs(const TensorImpl& target) const;
  bool writes_directly(size_t i, const InferContext::Output& wanted) const;
  OpCall& call_;
  Outputs tensors_;
  SmallVector<WriteMode, 4> write_modes_;
};

/// Prepares an out= tensor for a result: checks it, and resizes it if needed (with a warning if it
/// had elements).
void prepare_out(const Tensor& out, const Dims& sizes, ScalarType dtype);
/// Whether `tensor` is expanded, so that its elements share memory.
bool overlaps_itself(const TensorImpl& tensor);
/// If self is expanded, warns that the op writes to it, as PyTorch does. `assignment` is the same
/// operation in Python.
void warn_of_expanded(const Tensor& self, const char* op, const char* assignment);
/// Throws if `tensor` is expanded.
void check_no_internal_overlap(const TensorImpl& tensor);
/// Throws if `written` and `other` certainly share memory: they are one tensor, or dense and their
/// memory ranges overlap. Views with gaps may be interleaved; PyTorch accepts them too.
void check_not_overlapping(const TensorImpl& written, const TensorImpl& other);
/// Whether two tensors are the same view of one storage.
bool is_same_view(const TensorImpl& a, const TensorImpl& b);
/// Whether two tensors have memory in common. Interleaved views are compared element by element.
bool share_memory(const TensorImpl& a, const TensorImpl& b);

}  // namespace hearth
