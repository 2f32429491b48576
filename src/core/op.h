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

/// The inputs of one op call: undefined tensors are absent optionals.
struct Inputs {
  const Tensor* const* tensors;
  int count;
  const Tensor& operator[](int i) const { return *tensors[i]; }
};

/// Everything the machinery knows about one op, its argument struct's type erased. One constant per
/// op.
struct OpRecord {
  const OpInfo* info;
  size_t args_size;
  void (*copy_args)(void* to, const void* from);
  void (*destroy_args)(void* args);
  Arguments (*arguments)(const void* args);
  /// Pure: from the inputs' metadata to the outputs'; null for composed ops.
  void (*infer)(const OpRecord& op, const void* args, InferContext& context);
  /// Computes; null for composed ops.
  void (*launch)(const OpRecord& op, const void* args, LaunchContext& context);
  /// The derivative; null: recording one is an error.
  void (*grad)(const OpRecord& op, const void* args, GradContext& context) = nullptr;
  /// What backward will read, given which inputs need a gradient (bit i).
  SlotSet (*saves)(const OpRecord& op, const void* args, SlotSet needs) = nullptr;
  /// Whether a call writes to this defined input besides its outputs; null: the op writes to none.
  bool (*mutates)(const void* args, const Inputs& inputs, int i) = nullptr;
  /// Which inputs have a derivative at all (bit i).
  SlotSet differentiable = ~SlotSet(0);
  /// A pointwise functor's number (functors/families.h), else -1, and which of its formulas this
  /// is.
  int functor = -1;
  int formula = 0;
};

/// The same for any op and any input.
inline bool writes_to_input(const OpRecord& op, const void* args, const Inputs& inputs, int i) {
  return op.mutates && inputs[i].defined() && op.mutates(args, inputs, i);
}

/// "div.trunc": no other op has it.
std::string full_name(const OpInfo& info);

/// A copy of an op's arguments, for history and view chains.
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

/// What `infer` reads and fills in.
class InferContext {
 public:
  struct Output {
    ScalarType dtype = ScalarType::Undefined;
    bool defined = true;
    bool late = false;         // launch allocates it: only the backend or the data know its size
    bool has_strides = false;  // else contiguous
    bool has_device = false;   // else that of the inputs
    Device device{DeviceType::CPU};
    int64_t offset = 0;  // of a view: from the input's first element
    Dims sizes, strides;
  };
  explicit InferContext(Inputs inputs) : inputs_(inputs) {}

  int inputs() const { return inputs_.count; }
  bool has(int i) const { return i < inputs_.count && inputs_[i].defined(); }
  const TensorImpl& in(int i) const { return impl_of(inputs_[i]); }
  /// Output i; asking for one makes it and those before it exist.
  Output& out(int i = 0) {
    if (size_t(i) >= outputs_.size()) outputs_.resize(size_t(i) + 1);
    return outputs_[size_t(i)];
  }
  const Output& out(int i) const { return outputs_[size_t(i)]; }
  size_t outputs() const { return outputs_.size(); }
  /// Contiguous output i.
  void set(int i, IntArrayRef sizes, ScalarType dtype) {
    out(i).sizes = sizes;
    out(i).dtype = dtype;
  }
  /// Output i with sizes, dtype and (if it has no gaps) memory layout of a tensor.
  void like(int i, const TensorImpl& tensor) {
    set(i, tensor.sizes(), tensor.dtype);
    if (!tensor.has(kDense)) return;
    out(i).strides = tensor.strides();
    out(i).has_strides = true;
  }
  /// Leaves the outputs that are not in the set undefined: bit i stands for output i.
  void keep_only(SlotSet wanted) {
    for (int i = 0; i < int(outputs_.size()); ++i) out(i).defined = wanted >> i & 1u;
  }
  /// The dtype a pointwise op computes in; decided before infer runs.
  ScalarType compute = ScalarType::Undefined;

 private:
  Inputs inputs_;
  SmallVector<Output, 1> outputs_;
};

/// What `launch` reads: views of inputs and outputs, and where to run.
class LaunchContext {
 public:
  LaunchContext(Inputs inputs, const Outputs& outputs, Ctx& where, ScalarType compute_dtype)
      : ctx(where), compute(compute_dtype), inputs_(inputs), outputs_(outputs) {}
  int inputs() const { return inputs_.count; }
  bool has(int i) const { return i < inputs_.count && inputs_[i].defined(); }
  /// The view of input i; an undefined one for an absent input.
  View in(int i) const { return has(i) ? view_of(impl_of(inputs_[i])) : View(); }
  View out(int i = 0) const {
    const Tensor& tensor = outputs_[size_t(i)];
    return tensor.defined() ? view_of(impl_of(tensor)) : View();
  }
  int outputs() const { return int(outputs_.size()); }
  const TensorImpl& in_impl(int i) const { return impl_of(inputs_[i]); }
  const TensorImpl& out_impl(int i = 0) const { return impl_of(outputs_[size_t(i)]); }
  /// Gives a late output its memory.
  View allocate(int i, IntArrayRef sizes) const {
    resize_tensor(outputs_[size_t(i)], sizes);
    return out(i);
  }
  /// Waits for the device and reads the first element of a tensor that a kernel of this launch
  /// wrote.
  template <class T>
  T read_back(const Tensor& from) const {
    T value;
    copy_to_host(impl_of(from), &value, sizeof value);
    return value;
  }

  Ctx& ctx;
  ScalarType compute;

 private:
  void copy_to_host(const TensorImpl& from, void* to, size_t bytes) const;
  Inputs inputs_;
  const Outputs& outputs_;
};

/// What `grad` reads and sets. Its code is plain code over tensors: with create_graph it records
/// itself.
class GradContext {
 public:
  virtual ~GradContext() = default;
  /// The gradient of output i; undefined if nothing flowed there.
  virtual const Tensor& grad(int i = 0) const = 0;
  /// Saved input or output; undefined if `saves` did not name it.
  virtual Tensor in(int i) const = 0;
  virtual Tensor out(int i = 0) const = 0;
  /// How many inputs the op had, and whether the gradient of input i is wanted.
  virtual int inputs() const = 0;
  virtual bool needs(int i) const = 0;
  /// Metadata of an input that needs a gradient or that info.shapes names.
  virtual IntArrayRef in_sizes(int i) const = 0;
  virtual ScalarType in_dtype(int i) const = 0;
  virtual Device in_device(int i) const = 0;
  /// All metadata of an input that info.shapes names: a tensor without memory.
  virtual const TensorImpl& in_shape(int i) const = 0;
  virtual void set(int i, Tensor gradient) = 0;

  /// The inputs whose gradients are wanted.
  SlotSet wanted() const {
    SlotSet set = 0;
    for (int i = 0; i < inputs(); ++i)
      if (needs(i)) set |= in_slot(i);
    return set;
  }
  /// Sets the gradients of the first inputs, those that are wanted.
  void set_wanted(const std::vector<Tensor>& gradients) {
    for (int i = 0; i < int(gradients.size()); ++i)
      if (needs(i)) set(i, gradients[size_t(i)]);
  }
};

}  // namespace hearth
