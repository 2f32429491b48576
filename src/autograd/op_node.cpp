#include "autograd/op_node.h"

#include <algorithm>
#include <bit>

#include "autograd/engine.h"
#include "core/node_name.h"

namespace hearth::autograd {

namespace {

/// The GradContext of a node, for its op's derivative.
class NodeGrad final : public GradContext {
 public:
  /// Takes the gradients of the op's outputs from `grads`, which then becomes the list of results.
  NodeGrad(OpNode& node, variable_list& grads) : node_(node), results_(grads) {
    for (Tensor& grad : grads) grads_.push_back(std::move(grad));
    results_.clear();
    results_.resize(node.num_outputs());
  }
  const Tensor& grad(int i) const override {
    static const Tensor none;
    return size_t(i) < grads_.size() ? grads_[size_t(i)] : none;
  }
  Tensor in(int i) const override { return conjugated_for(node_.op(), node_.saved_input(i)); }
  Tensor out(int i) const override { return conjugated_for(node_.op(), node_.saved_output(i)); }
  int inputs() const override { return node_.op_inputs(); }
  bool needs(int i) const override {
    const int edge = node_.edge_of(i);
    return edge >= 0 && wants_gradient(node_, size_t(edge));
  }
  IntArrayRef in_sizes(int i) const override {
    return keeps_shape(i) ? in_shape(i).sizes() : metadata(i).sizes();
  }
  ScalarType in_dtype(int i) const override {
    return keeps_shape(i) ? in_shape(i).dtype : metadata(i).scalar_type();
  }
  Device in_device(int i) const override {
    return keeps_shape(i) ? in_shape(i).device : metadata(i).device();
  }
  const TensorImpl& in_shape(int i) const override {
    HEARTH_CHECK(keeps_shape(i), node_.name(), " did not keep the metadata of input ", i);
    return impl_of(node_.kept_shape(i));
  }
  void set(int i, Tensor gradient) override {
    if (const int edge = node_.edge_of(i); edge >= 0) results_[size_t(edge)] = std::move(gradient);
  }

 private:
  /// A kept shape is a tensor without memory that has an input's sizes, strides, dtype and device.
  bool keeps_shape(int i) const { return node_.kept_shape(i).defined(); }
  const InputMetadata& metadata(int i) const {
    const int number = node_.edge_of(i);
    HEARTH_CHECK(number >= 0 && node_.next_edge(size_t(number)).is_valid(), node_.name(),
                 " did not keep the metadata of input ", i);
    const Edge& edge = node_.next_edge(size_t(number));
    return edge.function->input_metadata(edge.input_nr);
  }
  OpNode& node_;
  SmallVector<Tensor> grads_;
  variable_list& results_;
};

}  // namespace

OpNode::OpNode(const OpRecord& op, const void* args, int inputs, SlotSet saves, SlotSet edgeless)
    : args_(op, args), saves_(saves), edgeless_(edgeless), num_op_inputs_(inputs) {}

int OpNode::edge_of(int i) const {
  if (edgeless_ == 0) return i;
  if (edgeless_ & in_slot(i)) return -1;
  return i - std::popcount(edgeless_ & (in_slot(i) - 1));  // less the edgeless inputs before it
}

void OpNode::save_input(int i, const Tensor& tensor) { saved_.emplace_back(i, tensor); }
void OpNode::save_output(int i, const Tensor& tensor) { saved_.emplace_back(~i, tensor); }

void OpNode::keep_shape(int i, const Tensor& tensor) {
  const TensorImpl& from = impl_of(tensor);
  Tensor shape = new_tensor(from.dtype, from.device);
  impl_of(shape).set_geometry(from.sizes(), from.strides());
  shapes_.push_back({i, std::move(shape)});
}

const Tensor& OpNode::kept_shape(int i) const {
  static const Tensor none;
  for (const Shape& shape : shapes_)
    if (shape.input == i) return shape.tensor;
  return none;
}

std::string OpNode::name() const { return node_name(*op().info); }

void OpNode::release_variables() {
  const std::lock_guard lock(mutex_);
  // As in PyTorch, which does not save them as tensors, numbers stay.
  const auto is_number = [](const Saved& saved) { return saved.tensor.is_number(); };
  if (std::all_of(saved_.begin(), saved_.end(), is_number)) return;
  released_ = true;
  saved_.clear();
}

Tensor OpNode::saved(int operand) {
  std::unique_lock lock(mutex_);
  if (released_) fail_released(*this);
  for (const Saved& saved : saved_) {
    if (saved.operand != operand) continue;
    if (!saved.tensor.has_hook()) return saved.tensor.unpack(this);
    const SavedTensor copy = saved.tensor;
    lock.unlock();  // the hook may run backward, which locks other nodes
    return copy.unpack(this);
  }
  const bool is_input = operand >= 0;
  HEARTH_CHECK(saves_ & (is_input ? in_slot(operand) : out_slot(~operand)), name(), " reads ",
               is_input ? "input " : "output ", is_input ? operand : ~operand,
               " in backward, which its `saves` does not name");
  return {};  // it was undefined in forward
}

variable_list OpNode::apply(variable_list&& grads) {
  bool any_defined = false;
  for (const Tensor& grad : grads) any_defined |= grad.defined();
  if (!any_defined) return variable_list(num_outputs());
  HEARTH_CHECK_AS(NotImplementedError, op().grad, "derivative for ", op().info->name,
                  " is not implemented");
  NodeGrad context(*this, grads);
  op().grad(op(), args_.data(), context);
  return std::move(grads);
}

}  // namespace hearth::autograd
