#pragma once

#include <memory>

#include "core/op.h"
#include "hearth/autograd.h"

namespace hearth::autograd {

/// A tensor kept for backward: its value and version, and apart from it where its gradient goes. So
/// what becomes of the user's tensor (in-place ops, detach_, set_data) changes nothing here, and a
/// node never owns a tensor that owns the node.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// `own_output`: the tensor is output `output_nr` of the node that saves it.
  SavedTensor(const Tensor& tensor, bool own_output, uint32_t output_nr = 0);

  /// The tensor as it was when saved; throws if it was modified in place since. `node` is the
  /// saving node.
  Tensor unpack(Node* node) const;
  bool defined() const { return tensor_.defined() || packed_; }

 private:
  struct Packed;  // what hooks made of it
  struct DeletePacked {
    void operator()(Packed* packed) const;
  };
  void pack(const Tensor& tensor);
  void check_version(Node* node) const;
  Tensor with_history(Tensor value, Node* node) const;

  Tensor tensor_;  // the tensor itself if it is a leaf that requires grad, else an alias
  std::unique_ptr<Packed, DeletePacked> packed_;
  Edge history_;  // invalid for such leaves, for own outputs and without history
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool own_output_ = false;
};

/// Throws: backward has freed what `node` saved.
[[noreturn]] void fail_released(const Node& node);

}  // namespace hearth::autograd
