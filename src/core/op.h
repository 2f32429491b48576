#pragma once

#include <cstddef>
#include <new>
#include <string>

#include "core/tensor_impl.h"
#include "functors/hd.h"
#include "hearth/tensor.h"

namespace hearth {

class Infer;
class Launch;
class Grad;

/// Everything the machinery knows about one op, its argument struct's type erased. One constant per
/// op.
struct OpRecord {
  const OpInfo* info;
  size_t args_size;
  void (*copy_args)(void* to, const void* from);
  void (*destroy_args)(void* args);
  /// Pure: from the inputs' metadata to the outputs'.
  void (*infer)(const OpRecord& op, const void* args, Infer& c);
  /// Computes; null for views.
  void (*launch)(const OpRecord& op, const void* args, Launch& c);
  /// The derivative; null: recording one is an error.
  void (*grad)(const OpRecord& op, const void* args, Grad& c);
  /// What backward will read, given which inputs need a gradient (bit i).
  SlotSet (*saves)(const OpRecord& op, const void* args, SlotSet needs);
  /// Which inputs have a derivative at all (bit i).
  SlotSet differentiable = ~SlotSet(0);
  /// A pointwise functor's number (functors/families.h), else -1, and which of its formulas this
  /// is.
  int functor = -1;
  int formula = 0;
};

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

inline constexpr int kMaxOutputs = 4;

/// The inputs of one op call: undefined tensors are absent optionals.
struct Inputs {
  const Tensor* const* tensors;
  int count;
  const Tensor& operator[](int i) const { return *tensors[i]; }
};

/// What `infer` reads and fills in.
class Infer {
 public:
  struct Output {
    ScalarType dtype = ScalarType::Undefined;
    bool defined = true;
    bool has_strides = false;  // else contiguous
    bool has_device = false;   // else that of the inputs
    Device device{DeviceType::CPU};
    int64_t offset = 0;  // of a view, in elements
    Dims sizes, strides;
  };
  explicit Infer(Inputs inputs) : inputs_(inputs) {}

  int inputs() const { return inputs_.count; }
  bool has(int i) const { return i < inputs_.count && inputs_[i].defined(); }
  const TensorImpl& in(int i) const { return impl_of(inputs_[i]); }
  Output& out(int i = 0) { return outputs_[i]; }
  const Output& out(int i = 0) const { return outputs_[i]; }
  /// Contiguous output i.
  void set(int i, IntArrayRef sizes, ScalarType dtype) {
    outputs_[i].sizes = sizes;
    outputs_[i].dtype = dtype;
  }
  /// The dtype a pointwise op computes in; decided before infer runs.
  ScalarType compute = ScalarType::Undefined;

 private:
  Inputs inputs_;
  Output outputs_[kMaxOutputs];
};

/// What `launch` reads: views of inputs and outputs, and where to run.
class Launch {
 public:
  Launch(Inputs inputs, const Tensor* outputs, Ctx& where, ScalarType compute_dtype)
      : ctx(where), compute(compute_dtype), inputs_(inputs), outputs_(outputs) {}
  int inputs() const { return inputs_.count; }
  bool has(int i) const { return i < inputs_.count && inputs_[i].defined(); }
  /// The view of input i; an undefined one for an absent input.
  View in(int i) const { return has(i) ? view_of(impl_of(inputs_[i])) : View(); }
  View out(int i = 0) const {
    return outputs_[i].defined() ? view_of(impl_of(outputs_[i])) : View();
  }
  const TensorImpl& in_impl(int i) const { return impl_of(inputs_[i]); }
  const TensorImpl& out_impl(int i = 0) const { return impl_of(outputs_[i]); }
  /// Gives a data-dependent output its memory.
  View allocate(int i, IntArrayRef sizes) const {
    resize_tensor(outputs_[i], sizes);
    return out(i);
  }

  Ctx& ctx;
  ScalarType compute;

 private:
  Inputs inputs_;
  const Tensor* outputs_;
};

/// What `grad` reads and sets. Its code is plain code over tensors: with create_graph it records
/// itself.
class Grad {
 public:
  virtual ~Grad() = default;
  /// The gradient of output i; undefined if nothing flowed there.
  virtual const Tensor& grad(int i = 0) const = 0;
  /// Saved input or output; undefined if `saves` did not name it.
  virtual Tensor in(int i) const = 0;
  virtual Tensor out(int i = 0) const = 0;
  /// How many inputs the op had, and whether the gradient of input i is wanted.
  virtual int inputs() const = 0;
  virtual bool needs(int i) const = 0;
  /// Metadata of an input that needs a gradient.
  virtual IntArrayRef in_sizes(int i) const = 0;
  virtual ScalarType in_dtype(int i) const = 0;
  virtual Device in_device(int i) const = 0;
  virtual void set(int i, Tensor gradient) = 0;
};

}  // namespace hearth
