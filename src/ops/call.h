#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "core/modes.h"
#include "core/op.h"

namespace hearth {

/// How the outputs of a call are bound; functional, in-place and out= forms differ in nothing else.
enum class Binding : uint8_t { kNew, kInplace, kOut };

/// One op call, types erased.
struct OpCall {
  const OpRecord& op;
  const void* args;
  Inputs inputs;
  Binding binding = Binding::kNew;
  Tensor outputs[kMaxOutputs] = {};
};

/// The boundary: every op passes here. Device and dtype checks, promotion, autocast, allocation,
/// version counts, view links, history and anomaly mode happen behind it and nowhere else.
void run(OpCall& call);

/// Every op's record, for coverage tests and documentation.
const std::vector<const OpRecord*>& all_ops();
bool register_op(const OpRecord& op);

namespace detail {

template <class Op>
void infer_op(const OpRecord&, const void* args, Infer& c) {
  Op::infer(*static_cast<const typename Op::Args*>(args), c);
}
template <class Op>
void launch_op(const OpRecord&, const void* args, Launch& c) {
  if constexpr (Op::info.effect != Effect::kView)
    Op::launch(*static_cast<const typename Op::Args*>(args), c);
}
template <class Op>
void grad_op(const OpRecord&, const void* args, Grad& c) {
  Op::grad(*static_cast<const typename Op::Args*>(args), c);
}
template <class Op>
SlotSet saves_op(const OpRecord&, const void* args, SlotSet needs) {
  if constexpr (requires(const typename Op::Args& a) { Op::saves(a, needs); })
    return Op::saves(*static_cast<const typename Op::Args*>(args), needs);
  else
    return Op::info.saves;
}
template <class Args>
void copy_args(void* to, const void* from) {
  new (to) Args(*static_cast<const Args*>(from));
}
template <class Args>
void destroy_args(void* args) {
  static_cast<Args*>(args)->~Args();
}
template <class Op>
constexpr auto grad_of() -> decltype(OpRecord::grad) {
  if constexpr (requires(const typename Op::Args& a, Grad& g) { Op::grad(a, g); })
    return &grad_op<Op>;
  else
    return nullptr;
}

}  // namespace detail

/// The record of a kernel op: a struct with Args, info, infer, launch and, if it has a derivative,
/// grad.
template <class Op>
inline constexpr OpRecord record_of{&Op::info,
                                    sizeof(typename Op::Args),
                                    &detail::copy_args<typename Op::Args>,
                                    &detail::destroy_args<typename Op::Args>,
                                    &detail::infer_op<Op>,
                                    &detail::launch_op<Op>,
                                    detail::grad_of<Op>(),
                                    &detail::saves_op<Op>};

/// Registers an op when the program starts, because its Invocation exists somewhere.
template <const OpRecord& op>
struct Registration {
  static inline const bool done = register_op(op);
};

/// An op with its arguments and inputs, waiting to be told where its outputs go.
template <const OpRecord& op, class Args, int N>
class Invocation {
 public:
  template <class... T>
  explicit Invocation(Args args, const T&... inputs) : args_(std::move(args)), inputs_{&inputs...} {
    (void)Registration<op>::done;
  }

  Tensor call() const { return std::move(run_new().outputs[0]); }
  TensorPair pair() const {
    OpCall c = run_new();
    return {std::move(c.outputs[0]), std::move(c.outputs[1])};
  }
  std::tuple<Tensor, Tensor, Tensor> triple() const {
    OpCall c = run_new();
    return {std::move(c.outputs[0]), std::move(c.outputs[1]), std::move(c.outputs[2])};
  }
  Tensor& inplace(const Tensor& self) const { return bind(Binding::kInplace, self); }
  Tensor& out(Tensor& target) const { return bind(Binding::kOut, target); }

 private:
  OpCall run_new() const {
    OpCall c{op, &args_, {inputs_, N}};
    run(c);
    return c;
  }
  Tensor& bind(Binding binding, const Tensor& target) const {
    OpCall c{op, &args_, {inputs_, N}, binding, {target}};
    run(c);
    return const_cast<Tensor&>(target);
  }
  Args args_;
  const Tensor* inputs_[N > 0 ? N : 1];
};

/// invoke<Op>(args, inputs...): see Invocation.
template <class Op, class... T>
auto invoke(typename Op::Args args, const T&... inputs) {
  return Invocation<record_of<Op>, typename Op::Args, sizeof...(T)>(std::move(args), inputs...);
}

/// The same for ops on a list of tensors.
template <class Op>
class ListInvocation {
 public:
  ListInvocation(typename Op::Args args, TensorList tensors) : args_(std::move(args)) {
    (void)Registration<record_of<Op>>::done;
    for (const Tensor& t : tensors) inputs_.push_back(&t);
  }
  Tensor call() const {
    OpCall c{record_of<Op>, &args_, {inputs_.data(), int(inputs_.size())}};
    run(c);
    return std::move(c.outputs[0]);
  }
  Tensor& inplace(const Tensor& self) const { return bind(Binding::kInplace, self); }
  Tensor& out(Tensor& target) const { return bind(Binding::kOut, target); }

 private:
  Tensor& bind(Binding binding, const Tensor& target) const {
    OpCall c{record_of<Op>, &args_, {inputs_.data(), int(inputs_.size())}, binding, {target}};
    run(c);
    return const_cast<Tensor&>(target);
  }
  typename Op::Args args_;
  std::vector<const Tensor*> inputs_;
};

/// Marks a composed op while its parts run, so that errors, the profiler and autocast see it by
/// name.
class Composite {
 public:
  explicit Composite(const char* name);
  ~Composite();
  Composite(const Composite&) = delete;
  Composite& operator=(const Composite&) = delete;

 private:
  Scope scope_;
};

}  // namespace hearth
