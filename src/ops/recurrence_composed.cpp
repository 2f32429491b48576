// A recurrent layer as ordinary ops.
#include <algorithm>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/recurrence.h"

namespace hearth {

namespace {

/// The state of the sequences that are long enough for the current step. In forward direction, a
/// sequence is removed after its last step; in reverse, it is added at its last step.
class RunningState {
 public:
  RunningState(Tensor initial, bool reverse) : initial_(std::move(initial)), reverse_(reverse) {
    running_ = reverse && initial_.defined() ? initial_.narrow(0, 0, 0) : initial_;
  }
  const Tensor& rows_for(int64_t num_sequences) {
    if (!initial_.defined()) return initial_;
    const int64_t num_running = running_.size(0);
    if (num_sequences > num_running) {
      const Tensor added = initial_.narrow(0, num_running, num_sequences - num_running);
      running_ = num_running == 0 ? added : cat({running_, added});
    } else if (num_sequences < num_running) {
      finished_.push_back(running_.narrow(0, num_sequences, num_running - num_sequences));
      running_ = running_.narrow(0, 0, num_sequences);
    }
    return running_;
  }
  void set(Tensor next) { running_ = std::move(next); }
  /// The last state of every sequence.
  Tensor last() {
    if (finished_.empty()) return running_;
    finished_.push_back(running_);
    std::reverse(finished_.begin(), finished_.end());
    return cat(finished_);
  }

 private:
  Tensor initial_, running_;
  std::vector<Tensor> finished_;
  bool reverse_;
};

}  // namespace

RecurrenceState recurrence_step(RecurrenceMode mode, const Tensor& from_input,
                                const RecurrenceState& state, const RecurrenceWeights& weights) {
  const Tensor from_state = linear(state.h, weights.w_hh, weights.b_hh);
  if (mode == RecurrenceMode::kRnnTanh) return {from_input.add(from_state).tanh(), {}};
  if (mode == RecurrenceMode::kRnnRelu) return {from_input.add(from_state).relu(), {}};
  if (mode == RecurrenceMode::kGru) {
    const auto x = from_input.chunk(3, 1), h = from_state.chunk(3, 1);
    const Tensor reset = x[0].add(h[0]).sigmoid(), update = x[1].add(h[1]).sigmoid();
    const Tensor candidate = x[2].add(reset.mul(h[2])).tanh();
    return {candidate.add(update.mul(state.h.sub(candidate))), {}};
  }
  const auto gates = from_input.add(from_state).chunk(4, 1);
  const Tensor cell = gates[1].sigmoid().mul(state.c).add(gates[0].sigmoid().mul(gates[2].tanh()));
  const Tensor h = gates[3].sigmoid().mul(cell.tanh());
  return {weights.w_hr.defined() ? linear(h, weights.w_hr) : h, cell};
}

RecurrenceResult recur_composed(const RecurrenceLayer& layer, const Tensor& input,
                                const RecurrenceState& first, const RecurrenceWeights& weights) {
  const Tensor from_input = linear(input, weights.w_ih, weights.b_ih);
  const std::vector<Tensor> step_inputs = layer.batch_sizes.empty()
                                              ? from_input.unbind(0)
                                              : from_input.split_with_sizes(layer.batch_sizes);
  const size_t steps = step_inputs.size();
  RunningState h(first.h, layer.reverse), c(first.c, layer.reverse);
  std::vector<Tensor> outputs(steps);
  for (size_t i = 0; i < steps; ++i) {
    const size_t t = layer.reverse ? steps - 1 - i : i;
    const int64_t num_sequences =
        layer.batch_sizes.empty() ? first.h.size(0) : layer.batch_sizes[t];
    RecurrenceState next =
        recurrence_step(layer.mode, step_inputs[t],
                        {h.rows_for(num_sequences), c.rows_for(num_sequences)}, weights);
    outputs[t] = next.h;
    h.set(std::move(next.h));
    c.set(std::move(next.c));
  }
  return {layer.batch_sizes.empty() ? stack(outputs) : cat(outputs), h.last(), c.last()};
}

}  // namespace hearth
