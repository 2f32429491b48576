// A recurrent layer as ordinary ops.
#include <algorithm>

#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/recurrence.h"

namespace hearth {

namespace {

/// The rows of a state that a step reads. Forwards, sequences end at some step and leave; in
/// reverse they join there.
class RunningState {
 public:
  RunningState(Tensor initial, bool reverse) : initial_(std::move(initial)), reverse_(reverse) {
    running_ = reverse && initial_.defined() ? initial_.narrow(0, 0, 0) : initial_;
  }
  const Tensor& of(int64_t sequences) {
    if (!initial_.defined()) return initial_;
    const int64_t had = running_.size(0);
    if (sequences > had) {
      const Tensor joining = initial_.narrow(0, had, sequences - had);
      running_ = had == 0 ? joining : cat({running_, joining});
    } else if (sequences < had) {
      left_.push_back(running_.narrow(0, sequences, had - sequences));
      running_ = running_.narrow(0, 0, sequences);
    }
    return running_;
  }
  void set(Tensor next) { running_ = std::move(next); }
  /// The last state of every sequence.
  Tensor last() {
    if (left_.empty()) return running_;
    left_.push_back(running_);
    std::reverse(left_.begin(), left_.end());
    return cat(left_);
  }

 private:
  Tensor initial_, running_;
  std::vector<Tensor> left_;
  bool reverse_;
};

}  // namespace

RecurrenceState recurrence_step(RecurrenceMode mode, const Tensor& from_input,
                                const RecurrenceState& state, const RecurrenceWeights& weights) {
  const Tensor from_state = linear(state.h, weights.w_hh, weights.b_hh);
  if (mode == RecurrenceMode::kTanh) return {from_input.add(from_state).tanh(), {}};
  if (mode == RecurrenceMode::kRelu) return {from_input.add(from_state).relu(), {}};
  if (mode == RecurrenceMode::kGru) {
    const auto x = from_input.chunk(3, 1), h = from_state.chunk(3, 1);
    const Tensor reset = x[0].add(h[0]).sigmoid(), update = x[1].add(h[1]).sigmoid();
    const Tensor fresh = x[2].add(reset.mul(h[2])).tanh();
    return {fresh.add(update.mul(state.h.sub(fresh))), {}};
  }
  const auto gates = from_input.add(from_state).chunk(4, 1);
  const Tensor cell = gates[1].sigmoid().mul(state.c).add(gates[0].sigmoid().mul(gates[2].tanh()));
  const Tensor h = gates[3].sigmoid().mul(cell.tanh());
  return {weights.w_hr.defined() ? linear(h, weights.w_hr) : h, cell};
}

RecurrenceResult recur_by_parts(const RecurrenceLayer& layer, const Tensor& input,
                                const RecurrenceState& first, const RecurrenceWeights& weights) {
  const Tensor from_input = linear(input, weights.w_ih, weights.b_ih);
  const std::vector<Tensor> elements = layer.batch_sizes.empty()
                                           ? from_input.unbind(0)
                                           : from_input.split_with_sizes(layer.batch_sizes);
  const size_t steps = elements.size();
  RunningState h(first.h, layer.reverse), c(first.c, layer.reverse);
  std::vector<Tensor> outputs(steps);
  for (size_t i = 0; i < steps; ++i) {
    const size_t t = layer.reverse ? steps - 1 - i : i;
    const int64_t sequences = layer.batch_sizes.empty() ? first.h.size(0) : layer.batch_sizes[t];
    RecurrenceState next =
        recurrence_step(layer.mode, elements[t], {h.of(sequences), c.of(sequences)}, weights);
    outputs[t] = next.h;
    h.set(std::move(next.h));
    c.set(std::move(next.c));
  }
  return {layer.batch_sizes.empty() ? stack(outputs) : cat(outputs), h.last(), c.last()};
}

}  // namespace hearth
