// The forward pass of a recurrent layer: each step adds h @ weight^T to the gates, [positions,
// slots * hidden], and computes the new state of the units. A slot holds a gate; GRU's n has two,
// one for the inputs' contribution and one for the state's. The threads divide the sequences or,
// for few sequences, each step's columns (recurrence_steps.h). Bound by the multiplications; for
// few sequences, by reading the packed weight at every step.
#include "seam/recurrence.h"

#include "kernels/cpu/recurrence_panels.h"
#include "kernels/cpu/recurrence_steps.h"

namespace hearth::cpu {

namespace {

/// The forward pass of a recurrent layer.
template <class T>
class RecurrenceForward {
 public:
  RecurrenceForward(const RecurrenceParams& params, Ctx& ctx)
      : ops_(params.operands),
        shape_(ops_.shape),
        steps_(shape_),
        weights_(Panels<T>::strided(ops_.weight.as<T>(), shape_.gates(), shape_.hidden,
                                    shape_.state, shape_.state, 1, ctx)),
        projection_(Panels<T>::strided(ops_.projection.as<T>(), shape_.projects() ? 1 : 0,
                                       shape_.state, shape_.hidden, shape_.hidden, 1, ctx)),
        bias_(static_cast<T*>(ctx.scratch(size_t(shape_.slots() * shape_.hidden) * sizeof(T)))),
        unprojected_(shape_.projects() ? static_cast<T*>(ctx.scratch(
                                             size_t(shape_.batch * shape_.hidden) * sizeof(T)))
                                       : nullptr) {
    add_biases(params);
  }

  void run(const RecurrenceParams& params) const {
    steps_.run(false, shape_.projects() ? 2 : 1,
               [&](int64_t t, int phase, const RecurrencePart& part) {
                 phase == 0 ? compute_gates(t, part) : project(t, part);
               });
    copy_last(ops_.output, shape_.state, params.last_h);
    if (params.last_c.defined()) copy_last(ops_.cells, shape_.hidden, params.last_c);
  }

 private:
  /// Fills bias_ with the sum of both biases of each gate; only GRU's n has them in separate slots.
  void add_biases(const RecurrenceParams& params) {
    const int64_t hidden = shape_.hidden, first = shape_.first_slot() * hidden,
                  count = shape_.gates() * hidden;
    std::fill_n(bias_, shape_.slots() * hidden, T(0));
    if (const T* const from = params.state_bias.template as<T>())
      for (int64_t i = 0; i < count; ++i) bias_[first + i] += from[i];
    if (const T* const from = params.input_bias.template as<T>())
      for (int64_t i = 0; i < count; ++i)
        bias_[first > 0 && i >= 2 * hidden ? i - 2 * hidden : first + i] += from[i];
  }

  void compute_gates(int64_t t, const RecurrencePart& part) const {
    const int64_t end = std::min(part.end, steps_.sequences(t)), hidden = shape_.hidden;
    const int64_t first = part.first_block(weights_.blocks()),
                  last = part.end_block(weights_.blocks());
    const int64_t ld = shape_.slots() * hidden;
    T* const gates = ops_.gates.as<T>();
    steps_.for_adjacent(t, part.begin, end, [&](int64_t from, int64_t to) {
      const T* const h = previous_h(t, from);
      for (int64_t block = first; block < last; ++block)
        for (int64_t g = 0; g < shape_.gates(); ++g) {
          const int64_t slot = g + shape_.first_slot();
          // The slot of the state's contribution to GRU's n has no products of the inputs.
          const bool add = shape_.mode != RecurrenceMode::kGru || g < 2;
          weights_.multiply(
              h, to - from, shape_.state, g, block,
              gates + steps_.position(t, from) * ld + slot * hidden + weights_.column(block), ld,
              add);
        }
    });
    const int64_t unit = weights_.column(first), num_units = weights_.column(last) - unit;
    for (int64_t b = part.begin; b < end; ++b) compute_gates(t, b, unit, num_units);
  }

  void compute_gates(int64_t t, int64_t b, int64_t unit, int64_t num_units) const {
    const int64_t hidden = shape_.hidden, position = steps_.position(t, b);
    GateRow row;
    row.gates = ops_.gates.as<T>() + position * shape_.slots() * hidden + unit;
    row.bias = bias_ + unit;
    row.cell = nullptr;
    if (shape_.mode == RecurrenceMode::kLstm) {
      const T* const cells = ops_.cells.as<T>();
      row.previous = steps_.previous_row(t, b, cells, ops_.c0.as<T>(), hidden) + unit;
      row.cell = ops_.cells.as<T>() + position * hidden + unit;
    } else {
      row.previous = previous_h(t, b) + unit;
    }
    row.out =
        (unprojected_ ? unprojected_ + b * hidden : ops_.output.as<T>() + position * hidden) + unit;
    row.hidden = hidden;
    row.n = num_units;
    loops_.gates[int(shape_.mode)](row);
  }

  void project(int64_t t, const RecurrencePart& part) const {
    const int64_t end = std::min(part.end, steps_.sequences(t));
    if (part.begin >= end) return;
    T* const out = ops_.output.as<T>() + steps_.position(t, part.begin) * shape_.state;
    const int64_t last = part.end_block(projection_.blocks());
    for (int64_t block = part.first_block(projection_.blocks()); block < last; ++block)
      projection_.multiply(unprojected_ + part.begin * shape_.hidden, end - part.begin,
                           shape_.hidden, 0, block, out + projection_.column(block), shape_.state,
                           false);
  }

  const T* previous_h(int64_t t, int64_t b) const {
    const T* const output = ops_.output.as<T>();
    return steps_.previous_row(t, b, output, ops_.h0.as<T>(), shape_.state);
  }

  /// Copies the rows of each sequence's last step.
  void copy_last(const View& states, int64_t width, const View& last) const {
    for (int64_t b = 0; b < shape_.batch; ++b)
      std::copy_n(states.as<T>() + steps_.position(steps_.last_of(b), b) * width, width,
                  last.as<T>() + b * width);
  }

  const RecurrenceOperands& ops_;
  const RecurrenceShape& shape_;
  const RecurrenceSteps steps_;
  const RecurrenceLoops& loops_ = recurrence_loops<T>();
  const Panels<T> weights_, projection_;
  T* const bias_;
  T* const unprojected_;
};

}  // namespace

void run(const RecurrenceParams& params, Ctx& ctx) {
  params.operands.output.dtype == kDouble ? RecurrenceForward<double>(params, ctx).run(params)
                                          : RecurrenceForward<float>(params, ctx).run(params);
}

}  // namespace hearth::cpu
