#pragma once

#include "autograd/saved_tensor.h"
#include "core/modes.h"
#include "core/op.h"
#include "hearth/autograd.h"

namespace hearth::autograd {

/// The history of one op call: the op's record, its arguments and what was saved. There is no
/// closure, so checkpointing, offloading and release have something to hold.
class OpNode final : public Node {
 public:
  OpNode(const OpRecord& op, const void* args, int inputs);
  void save(SlotSet slot, const Tensor& tensor, bool own_output, uint32_t output_nr = 0);
  std::string name() const override;
  void release_variables() override;
  /// The saved tensor of a slot; throws if backward has freed it.
  Tensor saved(SlotSet slot);
  int op_inputs() const { return inputs_count_; }
  const OpRecord& op() const { return args_.op(); }

 protected:
  variable_list apply(variable_list&& grads) override;

 private:
  struct Slot {
    Slot(SlotSet which, const Tensor& value, bool own_output, uint32_t output_nr)
        : slot(which), tensor(value, own_output, output_nr) {}
    SlotSet slot;
    SavedTensor tensor;
  };
  OpArgs args_;
  SmallVector<Slot, 2> saved_;
  int inputs_count_;
  bool released_ = false;
};

}  // namespace hearth::autograd
