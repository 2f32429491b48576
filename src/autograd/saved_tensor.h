#pragma once

#include <memory>

#include "core/op.h"
#include "hearth/autograd.h"

namespace hearth::autograd {

/// A tensor kept for backward, with the version it had.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// `own_output`: the tensor is output `output_nr` of the node that saves it, so it is kept
  /// without its history.
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
  Tensor unpack_with_hooks(Node* node) const;

  Tensor tensor_;
  std::unique_ptr<Packed, DeletePacked> packed_;
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool own_output_ = false;
};

/// Throws: backward has freed what `node` saved.
[[noreturn]] void fail_released(const Node& node);

}  // namespace hearth::autograd
