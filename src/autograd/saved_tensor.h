#pragma once

#include <memory>

#include "core/op.h"
#include "hearth/autograd.h"

namespace hearth::autograd {

struct SavedHooks;

/// A tensor saved for backward: its value, its version and, separately, the edge of its gradient. A
/// leaf that requires a gradient is saved itself. Of other tensors, an alias is saved, which
/// detach_ and set_data of the user's tensor do not change. So a node never owns a tensor that owns
/// the node. unpack() notices in-place changes of the memory by the version.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// `own_output`: the tensor is output `output_nr` of the node that saves it.
  SavedTensor(const Tensor& tensor, bool own_output, uint32_t output_nr = 0);

  /// The tensor as it was when saved; throws if it was modified in place since. `node` is the
  /// saving node, or null.
  Tensor unpack(Node* node) const;
  bool defined() const { return tensor_.defined() || packed_; }
  /// Whether unpack() calls a hook, which is the program's code.
  bool has_hook() const { return packed_ != nullptr; }
  /// Whether it is a number, such as that in x * 2, which no hook sees.
  bool is_number() const { return is_number_; }
  /// Replaces the tensor, which must be defined, by the result of the hook.
  void set_hooks(IntrusivePtr<SavedHooks> hooks);

 private:
  struct Packed;  // the result of the pack hook
  void pack(const Tensor& tensor, IntrusivePtr<SavedHooks> hooks);
  void check_version(Node* node) const;
  Tensor with_history(Tensor value, Node* node) const;

  Tensor tensor_;  // the tensor itself if it is a leaf that requires grad, else an alias
  std::shared_ptr<Packed> packed_;
  Edge history_;  // invalid for own outputs, tensors without history, leaves saved themselves
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool own_output_ = false, is_number_ = false;
};

/// Throws PyTorch's error for a tensor that was modified in place after it was saved at version
/// `expected`. `what` describes the tensor, `hint` is the last sentence.
[[noreturn]] void fail_modified(const std::string& what, int64_t version, int64_t expected,
                                const char* hint);

/// Throws PyTorch's error for a second backward pass, after the tensors that `node` saved were
/// freed.
[[noreturn]] void fail_released(const Node& node);

}  // namespace hearth::autograd
