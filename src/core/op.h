#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <vector>

#include "core/arguments.h"
#include "core/tensor_impl.h"
#include "functors/hd.h"
#include "hearth/small_vector.h"
#include "hearth/tensor.h"

namespace hearth {

class InferContext;
class LaunchContext;
class GradContext;

/// The inputs of one op call; undefined tensors stand for absent optional inputs.
struct Inputs {
  const Tensor* const* tensors;
  int count;
  const Tensor& operator[](int i) const { return *tensors[i]; }
};

/// The description of an op, with the type of its argument struct erased. There is one constant per
/// op.
struct OpRecord {
  const OpInfo* info;
  size_t args_size;
  void (*copy_args)(void* to, const void* from);
  void (*destroy_args)(void* args);
  Arguments (*arguments)(const void* args);
  /// Computes the outputs' metadata from the inputs'; pure; null for composed ops.
  void (*infer)(const OpRecord& op, const void* args, InferContext& context);
  /// Computes the outputs with kernels; null for composed ops.
  void (*launch)(const OpRecord& op, const void* args, LaunchContext& context);
  /// Computes the gradients of the inputs; if null, recording a call is an error.
  void (*grad)(const OpRecord& op, const void* args, GradContext& context) = nullptr;
  /// The inputs and outputs that backward reads if the inputs `needs` (bit i) need a gradient.
  SlotSet (*saves)(const OpRecord& op, const void* args, SlotSet needs) = nullptr;
  /// Whether a call writes to defined input i, in addition to its outputs; null: to no input.
  bool (*mutates)(const void* args, const Inputs& inputs, int i) = nullptr;
  /// The inputs that have a derivative (bit i).
  SlotSet differentiable = ~SlotSet(0);
  /// The number of a pointwise functor (functors/families.h) or of a special function
  /// (functors/special.h), else -1.
  int functor = -1;
  /// The formula of the functor that this op computes: 0 its value, 1 to 3 its gradient with
  /// respect to input a, b or c (functors/traits.h).
  int formula = 0;
  /// Rounds arguments to the half type that a kernel of the CPU computes in; null: none is rounded.
  void (*round_args)(void* args, ScalarType half) = nullptr;
};

/// How the op's derivative treats complex numbers; kRefused counts as kAnalytic if pointwise.
inline ComplexGrad complex_grad_of(const OpRecord& op) {
  const ComplexGrad stated = op.info->complex_grad;
  return stated == ComplexGrad::kRefused && op.functor >= 0 ? ComplexGrad::kAnalytic : stated;
}

/// Whether a call writes to input i, in addition to its outputs.
inline bool writes_to_input(const OpRecord& op, const void* args, const Inputs& inputs, int i) {
  return op.mutates && inputs[i].defined() && op.mutates(args, inputs, i);
}

/// The unique name of an op: "div.trunc".
std::string full_name(const OpInfo& info);

/// A copy of an op's arguments, stored in its history.
class OpArgs {
 public:
  OpArgs(const OpRecord& op, const void* args) : op_(&op), data_(inline_) {
    if (op.args_size > sizeof inline_) data_ = ::operator new(op.args_size);
    op.copy_args(data_, args);
  }
  ~OpArgs() {
    op_->destroy_args(data_);
    if (data_ != inline_) ::operator delete(data_);
  }
  OpArgs(const OpArgs&) = delete;
  OpArgs& operator=(const OpArgs&) = delete;
  const OpRecord& op() const { return *op_; }
  const void* data() const { return data_; }

 private:
  const OpRecord* op_;
  void* data_;
  alignas(16) unsigned char inline_[48];
};

using Outputs = SmallVector<Tensor, 4>;

/// Whether output i of an op can require grad.
inline bool output_differentiable(const OpInfo& info, size_t i) {
  return !(info.non_differentiable & out_slot(int(i)));
}

/// The input and output of `infer`: metadata of the op's inputs and outputs.
class InferContext {
 public:
  struct Output {
    Output() {}  // not defaulted, so that Output() does not fill `sizes` and `strides` with zeros
    ScalarType dtype = ScalarType::Undefined;
    bool defined = true;
    bool late = false;         // allocated by launch: the size depends on the backend or on data
    bool has_strides = false;  // if not, contiguous
    bool has_device = false;   // if not, on the device of the inputs
    Device device{DeviceType::CPU};
    int64_t offset = 0;  // of a view: from the input's first element
    Dims sizes, strides;
  };
  explicit InferContext(Inputs inputs) : inputs_(inputs) {}

  int inputs() const { return inputs_.count; }
  bool has(int i) const { return i < inputs_.count && inputs_[i].defined(); }
  const TensorImpl& in(int i) const { return impl_of(inputs_[i]); }
  /// Returns output i; creates it, and all outputs before it, if needed.
  Output& out(int i = 0) {
    if (size_t(i) >= outputs_.size()) outputs_.resize(size_t(i) + 1);
    return outputs_[size_t(i)];
  }
  const Output& out(int i) const { return outputs_[size_t(i)]; }
  size_t outputs() const { return outputs_.size(); }
  /// Makes output i contiguous with these sizes and dtype.
  void set(int i, IntArrayRef sizes, ScalarType dtype) {
    out(i).sizes = sizes;
    out(i).dtype = dtype;
  }
  /// For ops whose output i is the gradient of input i: makes output i undefined unless input i is
  /// in `wanted`.
  void keep_only(SlotSet wanted) {
    for (int i = 0; i < int(outputs_.size()); ++i) out(i).defined = (wanted & in_slot(i)) != 0;
  }
  /// The dtype in which a pointwise op computes; set before infer runs.
  ScalarType compute_dtype = ScalarType::Undefined;

 private:
  Inputs inputs_;
  SmallVector<Output, 1> outputs_;
};

/// The input of `launch`: views of inputs and outputs, and the kernel context.
class LaunchContext {
 public:
  LaunchContext(Inputs inputs, const Outputs& outputs, Ctx& kernel_ctx, ScalarType dtype)
      : ctx(kernel_ctx), compute_dtype(dtype), inputs_(inputs), outputs_(outputs) {}
  int inputs() const { return inputs_.count; }
  bool has(int i) const { return i < inputs_.count && inputs_[i].defined(); }
  /// The view of input i; undefined if the input is.
  View in(int i) const { return has(i) ? view_of(impl_of(inputs_[i])) : View(); }
  View out(int i = 0) const {
    const Tensor& tensor = outputs_[size_t(i)];
    return tensor.defined() ? view_of(impl_of(tensor)) : View();
  }
  int outputs() const { return int(outputs_.size()); }
  const TensorImpl& in_impl(int i) const { return impl_of(inputs_[i]); }
  const TensorImpl& out_impl(int i = 0) const { return impl_of(outputs_[size_t(i)]); }
  /// Allocates a late output.
  View allocate(int i, IntArrayRef sizes) const {
    resize_tensor(outputs_[size_t(i)], sizes);
    return out(i);
  }
  /// Waits for the device and returns the first element of a tensor written by a kernel of this
  /// launch.
  template <class T>
  T read_back(const Tensor& from) const {
    T value;
    copy_to_host(impl_of(from), &value, sizeof value);
    return value;
  }

  Ctx& ctx;
  ScalarType compute_dtype;

 private:
  void copy_to_host(const TensorImpl& from, void* to, size_t bytes) const;
  Inputs inputs_;
  const Outputs& outputs_;
};

/// The input and output of `grad`, which uses ordinary tensor ops, so that its calls are recorded
/// with create_graph.
class GradContext {
 public:
  virtual ~GradContext() = default;
  /// The gradient of output i; undefined if backward has computed none.
  virtual const Tensor& grad(int i = 0) const = 0;
  /// A saved input or output; undefined if it was undefined in the forward call. Throws if `saves`
  /// does not name it. A complex tensor is conjugated if the op's derivative is analytic.
  virtual Tensor in(int i) const = 0;
  virtual Tensor out(int i = 0) const = 0;
  /// The number of inputs of the call.
  virtual int inputs() const = 0;
  /// Whether the gradient of input i has to be computed.
  virtual bool needs(int i) const = 0;
  /// Metadata of an input that needs a gradient or that info.shapes names.
  virtual IntArrayRef in_sizes(int i) const = 0;
  virtual ScalarType in_dtype(int i) const = 0;
  virtual Device in_device(int i) const = 0;
  /// All metadata of an input that info.shapes names: a tensor without memory.
  virtual const TensorImpl& in_shape(int i) const = 0;
  /// Sets the gradient of input i.
  virtual void set(int i, Tensor gradient) = 0;

  /// The set of inputs that need a gradient.
  SlotSet wanted() const {
    SlotSet set = 0;
    for (int i = 0; i < inputs(); ++i)
      if (needs(i)) set |= in_slot(i);
    return set;
  }
  /// Sets gradients[i] as the gradient of input i, for each input that needs one.
  void set_wanted(const std::vector<Tensor>& gradients) {
    for (int i = 0; i < int(gradients.size()); ++i)
      if (needs(i)) set(i, gradients[size_t(i)]);
  }
};

}  // namespace hearth
