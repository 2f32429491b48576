#include "autograd/op_node.h"

#include <cctype>

namespace hearth::autograd {

namespace {

/// What an op's derivative sees of its node.
class NodeGrad final : public Grad {
 public:
  NodeGrad(OpNode& node, variable_list&& grads, variable_list& results)
      : node_(node), grads_(std::move(grads)), results_(results) {}
  const Tensor& grad(int i) const override {
    static const Tensor none;
    return size_t(i) < grads_.size() ? grads_[size_t(i)] : none;
  }
  Tensor in(int i) const override { return node_.saved(in_slot(i)); }
  Tensor out(int i) const override { return node_.saved(out_slot(i)); }
  int inputs() const override { return node_.op_inputs(); }
  bool needs(int i) const override { return node_.should_compute_output(size_t(i)); }
  IntArrayRef in_sizes(int i) const override { return metadata(i).sizes; }
  ScalarType in_dtype(int i) const override { return metadata(i).dtype; }
  Device in_device(int i) const override { return metadata(i).device; }
  void set(int i, Tensor gradient) override { results_[size_t(i)] = std::move(gradient); }

 private:
  const InputMetadata& metadata(int i) const {
    const Edge& edge = node_.next_edge(size_t(i));
    return edge.function->input_metadata(edge.input_nr);
  }
  OpNode& node_;
  variable_list grads_;
  variable_list& results_;
};

}  // namespace

OpNode::OpNode(const OpRecord& op, const void* args, int inputs)
    : args_(op, args), inputs_count_(inputs) {}

void OpNode::save(SlotSet slot, const Tensor& tensor, bool own_output, uint32_t output_nr) {
  saved_.emplace_back(slot, tensor, own_output, output_nr);
}

std::string OpNode::name() const {
  const OpInfo& info = *op().info;
  std::string text = *info.node ? info.node : info.name;
  if (!*info.node) {
    // scatter_add -> ScatterAdd
    std::string camel;
    bool upper = true;
    for (char c : text) {
      if (c == '_') {
        upper = true;
        continue;
      }
      camel += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
    text = std::move(camel);
  }
  return text + "Backward0";
}

void OpNode::release_variables() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  saved_.clear();
}

Tensor OpNode::saved(SlotSet slot) {
  const std::lock_guard lock(mutex_);
  if (released_) fail_released(*this);
  for (const Slot& s : saved_)
    if (s.slot == slot) return s.tensor.unpack(this);
  return {};
}

variable_list OpNode::apply(variable_list&& grads) {
  variable_list results(num_outputs());
  bool any = false;
  for (const Tensor& g : grads) any |= g.defined();
  if (!any) return results;
  NodeGrad context(*this, std::move(grads), results);
  op().grad(op(), args_.data(), context);
  return results;
}

}  // namespace hearth::autograd
