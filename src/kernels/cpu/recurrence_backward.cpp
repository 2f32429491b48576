// The backward pass of a recurrent layer: from the last step to the first, the gradients of the
// gates and of the state before; then the weights' gradients, as products over all positions. The
// steps are divided as in the forward pass, the products into tasks of 96 rows of a gradient. Bound
// by the multiplications; for few sequences, steps by reading the packed weight.
#include "kernels/cpu/recurrence_panels.h"
#include "kernels/cpu/recurrence_steps.h"
#include "seam/recurrence.h"

namespace hearth::cpu {

namespace {

template <class T>
class RecurrenceBackward {
 public:
  RecurrenceBackward(const RecurrenceBackwardParams& params, Ctx& ctx)
      : params_(params),
        ops_(params.operands),
        shape_(ops_.shape),
        steps_(shape_),
        weights_(Panels<T>::strided(ops_.weight.as<T>(), 1, shape_.state, 1,
                                    shape_.gates() * shape_.hidden, shape_.state, ctx)),
        projection_(Panels<T>::strided(ops_.projection.as<T>(), shape_.projects() ? 1 : 0,
                                       shape_.hidden, 1, shape_.state, shape_.hidden, ctx)),
        grad_unprojected_(shape_.projects() ? static_cast<T*>(ctx.scratch(
                                                  size_t(shape_.batch * shape_.hidden) * sizeof(T)))
                                            : nullptr) {}

  void run(Ctx& ctx) const {
    init_gradient(params_.grad_last_h, params_.grad_h0);
    if (params_.grad_c0.defined()) init_gradient(params_.grad_last_c, params_.grad_c0);
    const int skipped = shape_.projects() ? 0 : 1;  // add_grad_output is for projections only
    steps_.run(true, 3 - skipped, [&](int64_t t, int phase, const RecurrencePart& part) {
      switch (phase + skipped) {
        case 0: return add_grad_output(t, part);
        case 1: return backward_gates(t, part);
        default: return backward_state(t, part);
      }
    });
    weight_gradients(ctx);
  }

 private:
  /// Sets `grad` to the gradient of the last state. Each step turns it into the gradient of the
  /// state before, and the last step into that of the initial state.
  static void init_gradient(const View& grad_last, const View& grad) {
    if (grad_last.defined())
      std::copy_n(grad_last.as<T>(), grad.numel, grad.as<T>());
    else
      std::fill_n(grad.as<T>(), grad.numel, T(0));
  }

  /// Computes the gradients of all weights, as products over all positions.
  void weight_gradients(Ctx& ctx) const {
    const int64_t positions = steps_.positions(), hidden = shape_.hidden;
    const auto panels_of = [&](bool wanted, int64_t columns, const auto& row) {
      return wanted ? Panels<T>::of_rows(columns, positions, ctx, row) : Panels<T>();
    };
    const View &input = params_.input, &grad_input = params_.grad_input_weight,
               &grad_state = params_.grad_state_weight, &grad_projection = params_.grad_projection;
    const int64_t width = input.sizes[1];
    const Panels<T> inputs =
        panels_of(grad_input.defined(), width, [&](int64_t i) { return row(input, i, width); });
    const std::vector<const T*> rows = previous_rows();
    const Panels<T> states =
        panels_of(grad_state.defined(), shape_.state, [&](int64_t i) { return rows[size_t(i)]; });
    const Panels<T> units = panels_of(grad_projection.defined(), hidden, [&](int64_t i) {
      return row(params_.unprojected, i, hidden);
    });
    std::vector<TransposedProduct<T>> products;
    const int64_t ld = shape_.slots() * hidden;
    const T* const grads = params_.grad_gates.as<T>();
    if (grad_input.defined())
      for (const GateBlock& block : shape_.input_blocks())
        products.push_back({grads + block.column, ld, block.count, &inputs,
                            grad_input.as<T>() + block.row * width, width});
    if (grad_state.defined())
      products.push_back({grads + shape_.first_slot() * hidden, ld, shape_.gates() * hidden,
                          &states, grad_state.as<T>(), shape_.state});
    if (grad_projection.defined())
      products.push_back({params_.grad_projected.as<T>(), shape_.state, shape_.state, &units,
                          grad_projection.as<T>(), hidden});
    run_products(products, ctx);
  }

  static void run_products(const std::vector<TransposedProduct<T>>& products, Ctx& ctx) {
    constexpr int64_t kScratch = TransposedProduct<T>::kScratch;
    int64_t tasks = 0;
    for (const auto& product : products) tasks += product.row_blocks();
    const int slots = task_slots(tasks);
    T* const scratch = static_cast<T*>(ctx.scratch(size_t(slots * kScratch) * sizeof(T)));
    parallel_tasks(tasks, slots, [&](int64_t task, int slot) {
      size_t i = 0;
      for (; task >= products[i].row_blocks(); ++i) task -= products[i].row_blocks();
      products[i].run(task, scratch + slot * kScratch);
    });
  }

  /// Returns the row of h before each position.
  std::vector<const T*> previous_rows() const {
    std::vector<const T*> rows(size_t(steps_.positions()));
    for (int64_t t = 0; t < shape_.steps; ++t)
      for (int64_t b = 0; b < steps_.sequences(t); ++b)
        rows[size_t(steps_.position(t, b))] = previous_h(t, b);
    return rows;
  }

  /// Returns the row of a position; null if the view is undefined.
  static T* row(const View& view, int64_t position, int64_t width) {
    return view.defined() ? view.as<T>() + position * width : nullptr;
  }

  /// Adds the gradients of h from the next step and from the output: the gradient of the
  /// projection's result.
  void add_grad_output(int64_t t, const RecurrencePart& part) const {
    const int64_t end = std::min(part.end, steps_.sequences(t)), width = shape_.state;
    const int64_t first = weights_.column(part.first_block(weights_.blocks())),
                  last = weights_.column(part.end_block(weights_.blocks()));
    for (int64_t b = part.begin; b < end; ++b) {
      const int64_t position = steps_.position(t, b);
      const T* const grad_output = row(params_.grad_output, position, width);
      loops_.add(params_.grad_h0.as<T>() + b * width + first,
                 grad_output ? grad_output + first : nullptr,
                 row(params_.grad_projected, position, width) + first, last - first);
    }
  }

  void backward_gates(int64_t t, const RecurrencePart& part) const {
    const int64_t end = std::min(part.end, steps_.sequences(t));
    // Without a projection, units and the columns of the state are the same.
    const Panels<T>& columns = shape_.projects() ? projection_ : weights_;
    const int64_t first = part.first_block(columns.blocks()),
                  last = part.end_block(columns.blocks());
    if (shape_.projects() && part.begin < end)
      for (int64_t block = first; block < last; ++block)
        projection_.multiply(
            row(params_.grad_projected, steps_.position(t, part.begin), shape_.state),
            end - part.begin, shape_.state, 0, block,
            grad_unprojected_ + part.begin * shape_.hidden + columns.column(block), shape_.hidden,
            false);
    const int64_t unit = columns.column(first), num_units = columns.column(last) - unit;
    for (int64_t b = part.begin; b < end; ++b) backward_gates(t, b, unit, num_units);
  }

  void backward_gates(int64_t t, int64_t b, int64_t unit, int64_t num_units) const {
    const int64_t hidden = shape_.hidden, position = steps_.position(t, b);
    const auto address = [&](const View& view, int64_t i, int64_t width) -> T* {
      return view.defined() ? view.as<T>() + i * width + unit : nullptr;
    };
    const bool is_lstm = shape_.mode == RecurrenceMode::kLstm, projects = shape_.projects();
    const T* const cells = ops_.cells.as<T>();
    GateGradRow row_args;
    row_args.gates = address(ops_.gates, position, shape_.slots() * hidden);
    row_args.grad_gates = address(params_.grad_gates, position, shape_.slots() * hidden);
    row_args.previous = unit + (is_lstm ? steps_.previous_row(t, b, cells, ops_.c0.as<T>(), hidden)
                                        : previous_h(t, b));
    row_args.cell = address(ops_.cells, position, hidden);
    row_args.grad_cell = address(params_.grad_c0, b, hidden);
    row_args.grad_out = projects ? nullptr : address(params_.grad_output, position, hidden);
    row_args.grad_h =
        projects ? grad_unprojected_ + b * hidden + unit : address(params_.grad_h0, b, hidden);
    row_args.out = address(params_.unprojected, position, hidden);
    row_args.hidden = hidden;
    row_args.n = num_units;
    loops_.gradients[int(shape_.mode)](row_args);
  }

  /// Computes the gradient of h before the step.
  void backward_state(int64_t t, const RecurrencePart& part) const {
    const int64_t end = std::min(part.end, steps_.sequences(t)), width = shape_.state;
    if (part.begin >= end) return;
    const int64_t ld = shape_.slots() * shape_.hidden;
    const T* const grads = row(params_.grad_gates, steps_.position(t, part.begin), ld) +
                           shape_.first_slot() * shape_.hidden;
    T* const out = params_.grad_h0.as<T>() + part.begin * width;
    const int64_t last = part.end_block(weights_.blocks());
    for (int64_t block = part.first_block(weights_.blocks()); block < last; ++block)
      weights_.multiply(grads, end - part.begin, ld, 0, block, out + weights_.column(block), width,
                        shape_.mode == RecurrenceMode::kGru);
  }

  const T* previous_h(int64_t t, int64_t b) const {
    const T* const output = ops_.output.as<T>();
    return steps_.previous_row(t, b, output, ops_.h0.as<T>(), shape_.state);
  }

  const RecurrenceBackwardParams& params_;
  const RecurrenceOperands& ops_;
  const RecurrenceShape& shape_;
  const RecurrenceSteps steps_;
  const RecurrenceLoops& loops_ = recurrence_loops<T>();
  const Panels<T> weights_, projection_;
  T* const grad_unprojected_;
};

}  // namespace

void run(const RecurrenceBackwardParams& params, Ctx& ctx) {
  params.operands.output.dtype == kDouble ? RecurrenceBackward<double>(params, ctx).run(ctx)
                                          : RecurrenceBackward<float>(params, ctx).run(ctx);
}

}  // namespace hearth::cpu
