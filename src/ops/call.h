#pragma once

#include <iterator>
#include <memory>
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
  Outputs outputs = {};  // before the run: the targets of in-place and out= forms
};

/// The boundary: every call of a kernel op passes through it. Device and dtype checks, promotion,
/// autocast, allocation, version counts, view links, history and anomaly mode happen behind it.
/// Functions that read their inputs before the call check these first, by the functions below.
void run(OpCall& call);
/// The plain path of run: checks, allocation, launch.
void compute(OpCall& call);

namespace detail {
[[noreturn, gnu::cold]] void refuse_undefined(const char* op, int index, const char* argument);
[[noreturn, gnu::cold]] void refuse_device(const char* op, const char* argument, Device expected,
                                           Device actual);
}  // namespace detail
/// Throws PyTorch's error if an argument is not on the device of the arguments before it.
inline void check_same_device(const char* op, const char* argument, Device expected,
                              Device actual) {
  if (!(expected == actual)) [[unlikely]]
    detail::refuse_device(op, argument, expected, actual);
}

/// Throws PyTorch's error if an argument is undefined: for code that reads it before the call.
inline void check_defined(const char* op, int index, const char* argument, const Tensor& tensor) {
  if (!tensor.defined()) [[unlikely]]
    detail::refuse_undefined(op, index, argument);
}

/// The records of all ops, for coverage tests and documentation.
const std::vector<const OpRecord*>& all_ops();
bool register_op(const OpRecord& op);

namespace detail {

template <class Op>
void infer_op(const OpRecord&, const void* args, InferContext& context) {
  if constexpr (requires { &Op::infer; }) {
    Op::infer(*static_cast<const typename Op::Args*>(args), context);
  } else {
    static_assert(Op::info.outputs == 1 && Op::info.effect != Effect::kView &&
                      !(Op::info.optional & in_slot(0)),
                  "the default infer is for one output like input 0");
    context.set(0, context.in(0).sizes(), context.in(0).dtype);
  }
}
template <class Op>
void launch_op(const OpRecord&, const void* args, LaunchContext& context) {
  if constexpr (Op::info.effect != Effect::kView)
    Op::launch(*static_cast<const typename Op::Args*>(args), context);
}
template <class Op>
void grad_op(const OpRecord&, const void* args, GradContext& context) {
  Op::grad(*static_cast<const typename Op::Args*>(args), context);
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
  if constexpr (requires(const typename Op::Args& a, GradContext& g) { Op::grad(a, g); })
    return &grad_op<Op>;
  else
    return nullptr;
}
template <class Op>
bool mutates_op(const void* args, const Inputs& inputs, int i) {
  return Op::mutates(*static_cast<const typename Op::Args*>(args), inputs, i);
}
template <class Op>
constexpr auto mutates_of() -> decltype(OpRecord::mutates) {
  if constexpr (requires { &Op::mutates; })
    return &mutates_op<Op>;
  else
    return nullptr;
}

}  // namespace detail

/// The info of an op with another name of its grad_fn: PyTorch numbers the overloads of a function,
/// as in MulBackward1.
constexpr OpInfo with_node(OpInfo info, const char* node) {
  info.node = node;
  return info;
}

/// The record of a kernel op: a struct with Args, info, infer, launch (not for views), grad if it
/// has a derivative, and possibly saves and mutates. Without infer, the output is contiguous and
/// has the sizes and dtype of input 0.
template <class Op>
inline constexpr OpRecord record_of{.info = &Op::info,
                                    .args_size = sizeof(typename Op::Args),
                                    .copy_args = &detail::copy_args<typename Op::Args>,
                                    .destroy_args = &detail::destroy_args<typename Op::Args>,
                                    .arguments = &arguments_of<typename Op::Args>,
                                    .infer = &detail::infer_op<Op>,
                                    .launch = &detail::launch_op<Op>,
                                    .grad = detail::grad_of<Op>(),
                                    .saves = &detail::saves_op<Op>,
                                    .mutates = detail::mutates_of<Op>()};

/// The record of a composed op: a struct with Args, info and compute(args, inputs...).
template <class Op>
inline constexpr OpRecord composed_record{.info = &Op::info,
                                          .args_size = sizeof(typename Op::Args),
                                          .copy_args = &detail::copy_args<typename Op::Args>,
                                          .destroy_args = &detail::destroy_args<typename Op::Args>,
                                          .arguments = &arguments_of<typename Op::Args>,
                                          .infer = nullptr,
                                          .launch = nullptr};

/// Registers an op when the program starts, if code that invokes it exists.
template <const OpRecord& op>
struct Registration {
  static inline const bool done = register_op(op);
};

/// N addresses of tensors.
template <size_t N>
class PointerArray {
 public:
  void push_back(const Tensor* tensor) { tensors_[count_++] = tensor; }
  const Tensor* const* begin() const { return tensors_; }
  size_t size() const { return N; }

 private:
  const Tensor* tensors_[N > 0 ? N : 1];
  size_t count_ = 0;
};

/// An op with its arguments and inputs; each public function runs it. It points to the inputs, so
/// it must not outlive the expression that creates it.
template <const OpRecord& op, class Args, class Pointers>
class [[nodiscard]] Invocation {
 public:
  template <class... T>
  explicit Invocation(Args args, const T&... inputs) : args_(std::move(args)) {
    (void)Registration<op>::done;
    (add(inputs), ...);
  }

  Tensor call() const {
    OpCall call = prepare(Binding::kNew);
    run(call);
    return std::move(call.outputs[0]);
  }
  TensorPair pair() const {
    OpCall call = prepare(Binding::kNew);
    run(call);
    return {std::move(call.outputs[0]), std::move(call.outputs[1])};
  }
  std::tuple<Tensor, Tensor, Tensor> triple() const {
    OpCall call = prepare(Binding::kNew);
    run(call);
    return {std::move(call.outputs[0]), std::move(call.outputs[1]), std::move(call.outputs[2])};
  }
  std::vector<Tensor> all() const {
    OpCall call = prepare(Binding::kNew);
    run(call);
    return {std::make_move_iterator(call.outputs.begin()),
            std::make_move_iterator(call.outputs.end())};
  }
  Tensor& inplace(const Tensor& self) const {
    bind(Binding::kInplace, self);
    return const_cast<Tensor&>(self);
  }
  Tensor& out(Tensor& target) const {
    bind(Binding::kOut, target);
    return target;
  }
  std::tuple<Tensor&, Tensor&> out(Tensor& first, Tensor& second) const {
    bind(Binding::kOut, first, second);
    return {first, second};
  }

 private:
  void add(const Tensor& input) { inputs_.push_back(&input); }
  void add(TensorList list) {
    for (const Tensor& tensor : list) inputs_.push_back(&tensor);
  }
  OpCall prepare(Binding binding) const {
    return OpCall{op, &args_, {inputs_.begin(), int(inputs_.size())}, binding};
  }
  template <class... T>
  void bind(Binding binding, const T&... targets) const {
    OpCall call = prepare(binding);
    (call.outputs.push_back(targets), ...);
    run(call);
  }
  Args args_;
  Pointers inputs_;
};

/// The container of an Invocation's inputs: an array, unless some of them are lists.
template <class... T>
using InputPointers = std::conditional_t<(std::is_same_v<T, Tensor> && ...),
                                         PointerArray<sizeof...(T)>, SmallVector<const Tensor*, 8>>;

/// invoke<Op>(args, inputs...): see Invocation. An input is a tensor or a TensorList.
template <class Op, class... T>
auto invoke(typename Op::Args args, const T&... inputs) {
  return Invocation<record_of<Op>, typename Op::Args, InputPointers<T...>>(std::move(args),
                                                                           inputs...);
}

/// One of two invocations; see pick.
template <class A, class B>
struct Either {
  bool uses_first;
  A a;
  B b;
  Tensor call() const { return uses_first ? a.call() : b.call(); }
  Tensor& inplace(const Tensor& self) const {
    return uses_first ? a.inplace(self) : b.inplace(self);
  }
  Tensor& out(Tensor& target) const { return uses_first ? a.out(target) : b.out(target); }
};

/// The first invocation if the condition holds, else the second: for functions that run one of two
/// ops.
template <class A, class B>
Either<A, B> pick(bool condition, A a, B b) {
  return {condition, std::move(a), std::move(b)};
}

/// The arguments of ops that take none, or only a dimension.
struct NoArgs {};
struct DimArgs {
  int64_t dim;
  HEARTH_FIELDS(dim)
};

/// A composed op while the ops inside it run: errors, profiler and exporter see its name; autocast
/// casts its inputs by its policy, then leaves the ops inside alone.
class ComposedCall {
 public:
  ComposedCall(const OpRecord& op, const void* args, Inputs inputs);
  ~ComposedCall();
  ComposedCall(const ComposedCall&) = delete;
  ComposedCall& operator=(const ComposedCall&) = delete;

  const Tensor& operator[](size_t i) const { return inputs_[int(i)]; }
  Tensor done(Tensor result);
  template <class... T>
  std::tuple<T...> done(std::tuple<T...> results) {
    std::apply([this](const T&... each) { (outputs_.push_back(each), ...); }, results);
    return results;
  }

 private:
  struct Instrumentation;  // for observed and autocast calls only
  ModesGuard modes_;
  Scope scope_;
  Inputs inputs_;
  Outputs outputs_;
  std::unique_ptr<Instrumentation> instrumentation_;
};

/// compose<Op>(args, inputs...) runs Op::compute(args, inputs...), which calls other ops.
template <class Op, class... T>
auto compose(const typename Op::Args& args, const T&... inputs) {
  (void)Registration<composed_record<Op>>::done;
  const Tensor* const pointers[] = {&inputs...};
  ComposedCall call(composed_record<Op>, &args, {pointers, sizeof...(T)});
  return [&]<size_t... i>(std::index_sequence<i...>) {
    return call.done(Op::compute(args, call[i]...));
  }
  (std::index_sequence_for<T...>());
}

}  // namespace hearth
