#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "hearth/autograd.h"
#include "hearth/cuda_graph.h"
#include "hearth/demangle.h"
#include "hearth/memory_stats.h"
#include "hearth/operators.h"
#include "hearth/optim/optimizer.h"
#include "hearth/profiler/step_clock.h"

namespace hearth::optim {

/// Throws if a capture is about to record the creation of a parameter's state: each replay would
/// create it anew.
inline void check_creates_state(const Tensor& param) {
  HEARTH_CHECK(!param.is_cuda() || !cuda::is_current_stream_capturing(),
               "Attempting CUDA graph capture of step() before the optimizer has the state of all "
               "parameters, which each replay would create anew: call step() once before the "
               "capture");
}

/// Parameters of one device and dtype, with their gradients and, if the optimizer keeps any, state.
template <class State>
struct Batch {
  std::vector<Tensor> params, grads;
  std::vector<State*> states;

  bool accepts(const Tensor& param) const {
    return params[0].device() == param.device() && params[0].scalar_type() == param.scalar_type();
  }
  /// Returns one tensor of each state; an undefined one becomes zeros_like(parameter) first.
  std::vector<Tensor> tensors(Tensor& (State::*member)()) const {
    std::vector<Tensor> list;
    list.reserve(params.size());
    for (size_t i = 0; i < params.size(); ++i) {
      Tensor& tensor = (states[i]->*member)();
      if (!tensor.defined()) {
        check_creates_state(params[i]);
        tensor = zeros_like(params[i]);
      }
      list.push_back(tensor);
    }
    return list;
  }
};

/// Returns a parameter's state, which is created at first use.
template <class State>
State& state_of(Optimizer& optimizer, const Tensor& param) {
  std::unique_ptr<OptimizerParamState>& state = optimizer.state()[param.unsafeGetTensorImpl()];
  if (!state) {
    check_creates_state(param);
    state = std::make_unique<State>();
  }
  return static_cast<State&>(*state);
}

/// Returns the batch that accepts a parameter; a new one if there is none.
template <class State>
Batch<State>& batch_of(std::vector<Batch<State>>& batches, const Tensor& param) {
  for (Batch<State>& existing : batches)
    if (existing.accepts(param)) return existing;
  return batches.emplace_back();
}

/// Returns the parameters of a group that have a gradient, in batches; with their state if
/// `keeps_state`.
template <class State>
std::vector<Batch<State>> batches_of(Optimizer& optimizer, const OptimizerParamGroup& group,
                                     bool keeps_state) {
  std::vector<Batch<State>> batches;
  for (const Tensor& param : group.params()) {
    const Tensor& grad = param.mutable_grad();
    if (!grad.defined()) continue;
    Batch<State>& batch = batch_of(batches, param);
    if (batch.params.empty()) {
      batch.params.reserve(group.params().size());
      batch.grads.reserve(group.params().size());
      batch.states.reserve(group.params().size());
    }
    batch.params.push_back(param);
    batch.grads.push_back(grad);
    if (keeps_state) batch.states.push_back(&state_of<State>(optimizer, param));
  }
  return batches;
}

/// Splits a batch by the value of key(state) and calls f(value, part) for each part. Usually all
/// values are equal and the only part is the whole batch.
template <class State, class Key, class F>
void for_equal(const Batch<State>& batch, const Key& key, const F& f) {
  using Value = decltype(key(*batch.states[0]));
  std::vector<Value> keys, values;
  for (State* state : batch.states) keys.push_back(key(*state));
  if (std::all_of(keys.begin(), keys.end(), [&](const Value& each) { return each == keys[0]; }))
    return f(keys[0], batch);
  std::vector<Batch<State>> parts;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto found = std::find(values.begin(), values.end(), keys[i]);
    const auto part = size_t(found - values.begin());
    if (found == values.end()) {
      values.push_back(keys[i]);
      parts.emplace_back();
    }
    parts[part].params.push_back(batch.params[i]);
    parts[part].grads.push_back(batch.grads[i]);
    parts[part].states.push_back(batch.states[i]);
  }
  for (size_t i = 0; i < parts.size(); ++i) f(values[i], parts[i]);
}

/// Returns a group's options; throws if the user gave the group options of another type.
template <class Options>
const Options& options_of(const OptimizerParamGroup& group) {
  const auto* options = dynamic_cast<const Options*>(&group.options());
  HEARTH_CHECK_AS(TypeError, options,
                  "the options of a parameter group are not those of this optimizer");
  return *options;
}

/// Returns the loss of a closure, computed with gradients; undefined without a closure.
inline Tensor loss_of(const Optimizer::LossClosure& closure) {
  if (!closure) return {};
  const AutoGradMode with_gradients(true);
  return closure();
}

/// Whether the update depends on the state's number of steps, which is on the host.
template <class State>
inline constexpr bool kUsesStepCount = requires(State& state) {
  state.step();
};

/// Throws in a capture of a GPU's work, unless the options are capturable.
template <class Options>
void check_capturable(const Optimizer& optimizer, const Options& options) {
  if constexpr (requires { options.capturable(); })
    if (options.capturable()) return;
  HEARTH_CHECK(!cuda::is_current_stream_capturing(),
               "Attempting CUDA graph capture of step() for an instance of ",
               short_class_name(typeid(optimizer)),
               " but param_groups' capturable is False. Each replay would repeat the same step: "
               "call step() after the replay instead");
}

/// step() of an optimizer: update(options, batch) for all parameters. keeps_state(options): whether
/// parameters with these options have state; by default, they have.
template <class Options, class State, class Update>
Tensor fused_step(Optimizer& optimizer, const Optimizer::LossClosure& closure, const Update& update,
                  bool (*keeps_state)(const Options&) = nullptr) {
  const profiler::detail::OptimizerStep step(typeid(optimizer));
  const NoGradGuard no_grad;
  Tensor loss = loss_of(closure);
  if constexpr (kUsesStepCount<State>)
    for (const OptimizerParamGroup& group : optimizer.param_groups())
      check_capturable(optimizer, options_of<Options>(group));
  const MemoryTagGuard tag(MemoryTag::OptimizerState);
  for (const OptimizerParamGroup& group : optimizer.param_groups()) {
    const Options& options = options_of<Options>(group);
    const bool keeps = !keeps_state || keeps_state(options);
    for (const Batch<State>& batch : batches_of<State>(optimizer, group, keeps))
      update(options, batch);
  }
  return loss;
}

/// Returns the numbers of the states' next steps as tensors, the argument of the operators.
template <class State>
std::vector<Tensor> next_steps(const Batch<State>& batch) {
  std::vector<Tensor> counts;
  counts.reserve(batch.states.size());
  Tensor count;  // reused, because most parameters have the same number of steps
  int64_t last_step = -1;
  for (const State* state : batch.states) {
    const int64_t step = state->step() + 1;
    if (step != last_step) count = scalar_tensor(double(last_step = step), kFloat);
    counts.push_back(count);
  }
  return counts;
}

/// Increments the step count of each state; called after the update.
template <class State>
void count_steps(const Batch<State>& batch) {
  for (State* state : batch.states) ++state->step();
}

/// Splits a batch by step count. Calls f(number of the next step, part) for each part and then
/// increments its counts.
template <class State, class F>
void for_equal_steps(const Batch<State>& batch, const F& f) {
  const auto next = [](State& state) { return state.step() + 1; };
  for_equal(batch, next, [&f](int64_t step, const Batch<State>& part) {
    f(step, part);
    count_steps(part);
  });
}

/// Throws "Invalid learning rate: -1" unless the value is at least 0.
inline void check_not_negative(double value, const char* name) {
  HEARTH_CHECK(value >= 0, "Invalid ", name, ": ", value);
}

/// Throws unless 0 <= beta < 1.
inline void check_beta(double beta, int index) {
  HEARTH_CHECK(0 <= beta && beta < 1, "Invalid beta parameter at index ", index, ": ", beta);
}

/// The checks that Adam and its relatives have in common.
template <class Options>
void check_adaptive(const Options& options) {
  check_not_negative(options.lr(), "learning rate");
  check_not_negative(options.eps(), "epsilon value");
  check_beta(std::get<0>(options.betas()), 0);
  check_beta(std::get<1>(options.betas()), 1);
  check_not_negative(options.weight_decay(), "weight_decay value");
}

/// Defines the constructors and make_state() that HEARTH_OPTIMIZER declares, and instantiates the
/// base classes of the options; the source's function checked() checks the options.
#define HEARTH_DEFINE_OPTIMIZER(Name)                                                      \
  template class OptimizerCloneableOptions<Name##Options>;                                 \
  template class RateOptions<Name##Options>;                                               \
  Name::Name(const std::vector<OptimizerParamGroup>& param_groups, Name##Options defaults) \
      : Optimizer(param_groups, checked(defaults)) {}                                      \
  Name::Name(std::vector<Tensor> params, Name##Options defaults)                           \
      : Optimizer(std::move(params), checked(defaults)) {}                                 \
  std::unique_ptr<OptimizerParamState> Name::make_state() const {                          \
    return std::make_unique<Name##ParamState>();                                           \
  }

}  // namespace hearth::optim
