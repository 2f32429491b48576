// The forward pass of a recurrent layer. Each step multiplies the states by the weights
// (matmul.cpp) and launches a kernel for the gates with one hidden unit of a sequence per thread
// (recurrence_cells.cuh). Bound by latency, because each launch waits for the one before it; in
// large layers by the products.
#include "seam/recurrence.h"

#include "kernels/cuda/recurrence_cells.cuh"
#include "kernels/cuda/recurrence_products.h"
#include "kernels/recurrence_positions.h"

namespace hearth::cuda {

namespace {

template <class T>
class RecurrenceForward {
 public:
  RecurrenceForward(const RecurrenceParams& params, Ctx& ctx)
      : params_(params),
        ops_(params.operands),
        shape_(ops_.shape),
        order_(shape_),
        ctx_(ctx),
        unprojected_(shape_.projects() ? static_cast<T*>(ctx.scratch(
                                             size_t(shape_.batch * shape_.hidden) * sizeof(T)))
                                       : nullptr) {}

  void run() const {
    for (int64_t i = 0; i < shape_.steps; ++i) {
      const int64_t t = order_.step(i);
      multiply_weights(t);
      launch_cells(t);
      if (shape_.projects())
        multiply(matrix_view(unprojected_, order_.sequences(t), shape_.hidden),
                 transposed_matrix(ops_.projection),
                 matrix_view(output(t, 0), order_.sequences(t), shape_.state), false, ctx_);
    }
    copy_last(ops_.output, shape_.state, params_.last_h);
    if (params_.last_c.defined()) copy_last(ops_.cells, shape_.hidden, params_.last_c);
  }

 private:
  T* output(int64_t t, int64_t b) const {
    return ops_.output.as<T>() + order_.position(t, b) * shape_.state;
  }

  /// Adds the products of the previous state and the weights to the gates; GRU's n gets them in a
  /// slot of its own.
  void multiply_weights(int64_t t) const {
    const int64_t hidden = shape_.hidden, stride = shape_.slots() * hidden;
    const bool is_gru = shape_.mode == RecurrenceMode::kGru;
    const int64_t added = is_gru ? 2 : shape_.gates();
    order_.for_adjacent(t, 0, order_.sequences(t), [&](int64_t from, int64_t to) {
      const View state = matrix_view(
          order_.previous_row(t, from, ops_.output.as<T>(), ops_.h0.as<T>(), shape_.state),
          to - from, shape_.state);
      const auto multiply_gates = [&](int64_t gate, int64_t count, bool add) {
        const T* const weight = ops_.weight.as<T>() + gate * hidden * shape_.state;
        T* const out = ops_.gates.as<T>() + order_.position(t, from) * stride +
                       (gate + shape_.first_slot()) * hidden;
        multiply(state, transposed_matrix(matrix_view(weight, count * hidden, shape_.state)),
                 matrix_view(out, to - from, count * hidden, stride), add, ctx_);
      };
      multiply_gates(0, added, true);
      if (is_gru) multiply_gates(2, 1, false);
    });
  }

  void launch_cells(int64_t t) const {
    const bool is_lstm = shape_.mode == RecurrenceMode::kLstm;
    const int64_t earlier = order_.previous(t), first = order_.position(t, 0);
    const T* const states = is_lstm ? ops_.cells.as<T>() : ops_.output.as<T>();
    CellStep<T> step;
    step.sequences = order_.sequences(t);
    step.hidden = shape_.hidden;
    step.slots = shape_.slots();
    step.previous = {earlier < 0 ? nullptr : states + order_.position(earlier, 0) * shape_.hidden,
                     is_lstm ? ops_.c0.as<T>() : ops_.h0.as<T>(),
                     earlier < 0 ? 0 : order_.sequences(earlier), shape_.hidden};
    step.input_bias = params_.input_bias.as<T>();
    step.state_bias = params_.state_bias.as<T>();
    step.gates = ops_.gates.as<T>() + first * shape_.slots() * shape_.hidden;
    step.cell = is_lstm ? ops_.cells.as<T>() + first * shape_.hidden : nullptr;
    step.out = shape_.projects() ? unprojected_ : output(t, 0);
    const NativeStream& stream = stream_of(ctx_);
    with_mode(shape_.mode, [&](auto mode) {
      launch(cell_kernel<mode(), T>, grid_for(step.sequences * step.hidden, stream), stream, step);
    });
  }

  /// Copies the rows of each sequence's last step; sequences that end together are adjacent.
  void copy_last(const View& states, int64_t width, const View& last) const {
    for (int64_t b = 0; b < shape_.batch;) {
      const int64_t t = order_.last_of(b), begin = b;
      while (b < shape_.batch && order_.last_of(b) == t) ++b;
      copy_elements(last.as<T>() + begin * width,
                    states.as<const T>() + order_.position(t, begin) * width, (b - begin) * width,
                    stream_of(ctx_));
    }
  }

  const RecurrenceParams& params_;
  const RecurrenceOperands& ops_;
  const RecurrenceShape& shape_;
  const RecurrencePositions order_;
  Ctx& ctx_;
  T* const unprojected_;
};

}  // namespace

void run(const RecurrenceParams& params, Ctx& ctx) {
  params.operands.output.dtype == kDouble ? RecurrenceForward<double>(params, ctx).run()
                                          : RecurrenceForward<float>(params, ctx).run();
}

}  // namespace hearth::cuda
