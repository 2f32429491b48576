// The backward pass of a recurrent layer. Each step, from the last on, launches a kernel for the
// gates' gradients with one hidden unit of a sequence per thread (recurrence_cells.cuh) and
// multiplies them by the weights; the weights' gradients are products over all positions. Bound by
// the latency of dependent launches, in large layers by the products.
#include "kernels/cuda/recurrence_cells.cuh"
#include "kernels/cuda/recurrence_products.h"
#include "kernels/recurrence_positions.h"

namespace hearth::cuda {

namespace {

template <class T>
class RecurrenceBackward {
 public:
  RecurrenceBackward(const RecurrenceBackwardParams& params, Ctx& ctx)
      : p_(params),
        ops_(params.operands),
        shape_(ops_.shape),
        order_(shape_),
        ctx_(ctx),
        stream_(stream_of(ctx)),
        grad_unprojected_(shape_.projects() ? scratch(shape_.batch * shape_.hidden) : nullptr) {}

  void run() const {
    init_gradient(p_.grad_last_h, p_.grad_h0);
    if (p_.grad_c0.defined()) init_gradient(p_.grad_last_c, p_.grad_c0);
    for (int64_t i = shape_.steps - 1; i >= 0; --i) {
      const int64_t t = order_.step(i);
      if (shape_.projects()) add_grad_output(t);
      launch_gradients(t);
      multiply(matrix_view(grads(t) + shape_.first_slot() * shape_.hidden, order_.sequences(t),
                           shape_.gates() * shape_.hidden, slots_width()),
               ops_.weight, matrix_view(p_.grad_h0.as<T>(), order_.sequences(t), shape_.state),
               shape_.mode == RecurrenceMode::kGru, ctx_);
    }
    weight_gradients();
  }

 private:
  T* scratch(int64_t count) const {
    return static_cast<T*>(ctx_.scratch(size_t(count) * sizeof(T)));
  }
  int64_t slots_width() const { return shape_.slots() * shape_.hidden; }
  /// The row of step t's first sequence; null if the view is undefined.
  T* rows_at(const View& view, int64_t t, int64_t width) const {
    return view.defined() ? view.as<T>() + order_.position(t, 0) * width : nullptr;
  }
  T* grads(int64_t t) const { return rows_at(p_.grad_gates, t, slots_width()); }

  /// Sets `grad` to the gradient of the last state. Each step turns it into the gradient of the
  /// state before, so that it ends as the gradient of the initial state.
  void init_gradient(const View& grad_last, const View& grad) const {
    if (grad_last.defined())
      copy_elements(grad.as<T>(), grad_last.as<const T>(), grad.numel, stream_);
    else
      HEARTH_CUDA(cudaMemsetAsync(grad.data, 0, size_t(grad.numel) * sizeof(T), stream_.stream));
  }

  /// Computes the gradients of the projection's result and of its operand.
  void add_grad_output(int64_t t) const {
    const int64_t n = order_.sequences(t) * shape_.state;
    T* const grad = rows_at(p_.grad_projected, t, shape_.state);
    launch(add_kernel<T>, grid_for(n, stream_), stream_, p_.grad_h0.as<const T>(),
           static_cast<const T*>(rows_at(p_.grad_output, t, shape_.state)), grad, n);
    multiply(matrix_view(grad, order_.sequences(t), shape_.state), ops_.projection,
             matrix_view(grad_unprojected_, order_.sequences(t), shape_.hidden), false, ctx_);
  }

  void launch_gradients(int64_t t) const {
    const bool is_lstm = shape_.mode == RecurrenceMode::kLstm, projects = shape_.projects();
    const int64_t hidden = shape_.hidden, earlier = order_.previous(t);
    const View& states = is_lstm ? ops_.cells : ops_.output;
    CellGradientStep<T> step;
    step.sequences = order_.sequences(t);
    step.hidden = hidden;
    step.slots = shape_.slots();
    step.previous = {earlier < 0 ? nullptr : rows_at(states, earlier, hidden),
                     is_lstm ? ops_.c0.as<T>() : ops_.h0.as<T>(),
                     earlier < 0 ? 0 : order_.sequences(earlier), hidden};
    step.gates = rows_at(ops_.gates, t, slots_width());
    step.cell = rows_at(ops_.cells, t, hidden);
    step.grad_out = projects ? nullptr : rows_at(p_.grad_output, t, hidden);
    step.grad_h = projects ? grad_unprojected_ : p_.grad_h0.as<T>();
    step.grad_cell = p_.grad_c0.as<T>();
    step.grad_gates = grads(t);
    step.out = rows_at(p_.unprojected, t, hidden);
    with_mode(shape_.mode, [&](auto mode) {
      launch(cell_gradient_kernel<mode(), T>, grid_for(step.sequences * hidden, stream_), stream_,
             step);
    });
  }

  /// Computes the wanted gradients of the weights, as products over all positions.
  void weight_gradients() const {
    const int64_t positions = order_.positions(), hidden = shape_.hidden;
    const auto grads_of = [&](int64_t column, int64_t count) {
      return transposed_matrix(
          matrix_view(p_.grad_gates.as<T>() + column, positions, count, slots_width()));
    };
    if (const View& grad = p_.grad_input_weight; grad.defined())
      for (const GateBlock& block : shape_.input_blocks())
        multiply(grads_of(block.column, block.count), p_.input,
                 matrix_view(grad.as<T>() + block.row * grad.sizes[1], block.count, grad.sizes[1]),
                 false, ctx_);
    if (p_.grad_state_weight.defined())
      multiply(grads_of(shape_.first_slot() * hidden, shape_.gates() * hidden), previous_states(),
               p_.grad_state_weight, false, ctx_);
    if (p_.grad_projection.defined())
      multiply(transposed_matrix(matrix_view(p_.grad_projected.as<T>(), positions, shape_.state)),
               matrix_view(p_.unprojected.as<T>(), positions, hidden), p_.grad_projection, false,
               ctx_);
  }

  /// Copies the state before each position; rows that are adjacent are copied at once.
  View previous_states() const {
    const int64_t width = shape_.state;
    T* const rows = scratch(order_.positions() * width);
    const T* from = nullptr;
    int64_t first = 0, count = 0;  // of the adjacent rows
    for (int64_t t = 0; t < shape_.steps; ++t)
      order_.for_adjacent(t, 0, order_.sequences(t), [&](int64_t begin, int64_t end) {
        const T* const next =
            order_.previous_row(t, begin, ops_.output.as<T>(), ops_.h0.as<T>(), width);
        if (next != from + count * width) {
          copy_elements(rows + first * width, from, count * width, stream_);
          from = next;
          first += count;
          count = 0;
        }
        count += end - begin;
      });
    copy_elements(rows + first * width, from, count * width, stream_);
    return matrix_view(rows, order_.positions(), width);
  }

  const RecurrenceBackwardParams& p_;
  const RecurrenceOperands& ops_;
  const RecurrenceShape& shape_;
  const RecurrencePositions order_;
  Ctx& ctx_;
  const NativeStream& stream_;
  T* const grad_unprojected_;
};

}  // namespace

void run(const RecurrenceBackwardParams& params, Ctx& ctx) {
  params.operands.output.dtype == kDouble ? RecurrenceBackward<double>(params, ctx).run()
                                          : RecurrenceBackward<float>(params, ctx).run();
}

}  // namespace hearth::cuda
