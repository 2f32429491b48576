// One layer of a recurrent net in one direction, as one op over all steps.
#include "core/backends.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/autocast.h"
#include "ops/composed_gradient.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/recurrence.h"
#include "ops/window.h"
#include "seam/matmul.h"
#include "seam/reduce.h"

namespace hearth {

namespace {

// The inputs of Layer (up to kProjection) and LayerBackward (all).
enum InputIndex {
  kInput,
  kH0,
  kC0,
  kInputWeight,
  kStateWeight,
  kInputBias,
  kStateBias,
  kProjection,
  kGradOutput,
  kGradH,
  kGradC,
  kOutput,
  kGates,
  kCells
};
constexpr int kForwardInputs = kGradOutput, kFormulaInputs = kOutput;

struct LayerArgs {
  RecurrenceMode mode;
  bool reverse;
  std::vector<int64_t> batch_sizes;
  HEARTH_FIELDS(mode, reverse, batch_sizes)
};

RecurrenceShape shape_of(const LayerArgs& args, const TensorImpl& input, const TensorImpl& h0,
                         const TensorImpl& input_weight) {
  RecurrenceShape shape;
  shape.mode = args.mode;
  shape.reverse = args.reverse;
  shape.batch = h0.sizes()[0];
  shape.state = h0.sizes()[1];
  shape.hidden = input_weight.sizes()[0] / shape.gates();
  shape.steps = args.batch_sizes.empty() ? input.sizes()[0] : int64_t(args.batch_sizes.size());
  shape.batch_sizes = args.batch_sizes;
  return shape;
}

View as_matrix(const View& view, int64_t columns) {
  View result = view;
  result.dim = 2;
  result.sizes[0] = columns == 0 ? 0 : view.numel / columns;
  result.sizes[1] = columns;
  result.strides[0] = columns;
  result.strides[1] = 1;
  return result;
}
/// Views or copies data as a contiguous matrix [positions, features]; undefined if the view is.
View positions(LaunchContext& context, const View& view) {
  return view.defined() ? as_matrix(dense(context, view), view.sizes[view.dim - 1]) : view;
}
View matrix_in_scratch(LaunchContext& context, ScalarType dtype, int64_t rows, int64_t columns) {
  View view;
  view.dtype = dtype;
  view.numel = rows * columns;
  view.data = context.ctx.scratch(size_t(view.numel) * element_size(dtype));
  return as_matrix(view, columns);
}
View transposed(View view) {
  std::swap(view.sizes[0], view.sizes[1]);
  std::swap(view.strides[0], view.strides[1]);
  return view;
}

/// out = a @ b, or out += a @ b.
void multiply(LaunchContext& context, const View& a, const View& b, const View& out,
              bool add = false) {
  MatmulParams params;
  params.a = a;
  params.b = b;
  params.out = out;
  if (add) params.c = out;
  run_kernel(context.ctx, params);
}

/// The rows of a weight that belong to a block of gates, and the block's columns of the gates.
View rows_of(const View& weight, const GateBlock& block) {
  return narrowed(weight, 0, block.row, block.count);
}
View columns_of(const View& gates, const GateBlock& block) {
  return narrowed(gates, 1, block.column, block.count);
}

RecurrenceOperands operands_of(const LayerArgs& args, LaunchContext& context) {
  RecurrenceOperands operands;
  operands.shape =
      shape_of(args, context.in_impl(kInput), context.in_impl(kH0), context.in_impl(kInputWeight));
  operands.weight = dense(context, context.in(kStateWeight));
  operands.projection = dense(context, context.in(kProjection));
  operands.h0 = dense(context, context.in(kH0));
  operands.c0 = dense(context, context.in(kC0));
  return operands;
}

/// Inputs: all of InputIndex. Outputs: the gradients of the forward op's inputs.
struct LayerBackward {
  struct Args {
    LayerArgs layer;
    SlotSet wanted;
    HEARTH_FIELDS(layer.mode, layer.reverse, layer.batch_sizes, wanted)
  };
  static constexpr OpInfo info{
      .name = "_recurrent_layer_backward",
      .node = "RecurrentLayerBackward",
      .arguments =
          "input,h0,c0,w_ih,w_hh,b_ih,b_hh,w_hr,grad_output,grad_h,grad_c,output,gates,"
          "cells",
      .dtypes = dtypes::kFloatAndDouble,
      .saves = in_slot(kFormulaInputs) - 1,
      .optional = in_slot(kC0) | in_slot(kInputBias) | in_slot(kStateBias) | in_slot(kProjection) |
                  in_slot(kGradOutput) | in_slot(kGradH) | in_slot(kGradC) | in_slot(kGates) |
                  in_slot(kCells),
      .outputs = kForwardInputs};
  static void infer(const Args& args, InferContext& context) {
    for (int i = 0; i < kForwardInputs; ++i) {
      if (context.has(i)) context.set(i, context.in(i).sizes(), context.in(i).dtype);
      context.out(i).defined = context.has(i) && (args.wanted & in_slot(i)) != 0;
    }
  }
  static void launch(const Args& args, LaunchContext& context);
  /// The gradients by differentiable ops.
  static std::vector<Tensor> formula(const Args& args, const Tensor* in);
  static void grad(const Args& args, GradContext& context) {
    composed_gradient(context, kFormulaInputs, [&](const Tensor* in) { return formula(args, in); });
  }
};

/// The kernel's parameters; the gradients of h0 and c0 are written to scratch memory if they are
/// not wanted.
RecurrenceBackwardParams backward_params(const LayerArgs& args, LaunchContext& context) {
  RecurrenceBackwardParams params;
  params.operands = operands_of(args, context);
  const RecurrenceShape& shape = params.operands.shape;
  params.operands.output = positions(context, context.in(kOutput));
  params.operands.gates =
      context.has(kGates) ? positions(context, context.in(kGates)) : params.operands.output;
  params.operands.cells = positions(context, context.in(kCells));
  params.grad_output = positions(context, context.in(kGradOutput));
  params.grad_last_h = dense(context, context.in(kGradH));
  params.grad_last_c = dense(context, context.in(kGradC));
  const ScalarType dtype = params.operands.output.dtype;
  const int64_t rows = params.operands.output.sizes[0];
  const auto scratch = [&](int64_t num_rows, int64_t columns) {
    return matrix_in_scratch(context, dtype, num_rows, columns);
  };
  params.grad_gates = scratch(rows, shape.slots() * shape.hidden);
  params.grad_h0 = context.out(kH0);
  if (!params.grad_h0.defined()) params.grad_h0 = scratch(shape.batch, shape.state);
  params.grad_c0 = context.out(kC0);
  if (context.has(kC0) && !params.grad_c0.defined())
    params.grad_c0 = scratch(shape.batch, shape.hidden);
  params.input = positions(context, context.in(kInput));
  params.grad_input_weight = context.out(kInputWeight);
  params.grad_state_weight = context.out(kStateWeight);
  params.grad_projection = context.out(kProjection);
  if (!shape.projects()) return params;
  params.grad_projected = scratch(rows, shape.state);
  params.unprojected = scratch(rows, shape.hidden);
  return params;
}

/// Sums the rows of a matrix.
void sum_rows(LaunchContext& context, const View& matrix, const View& out) {
  run_kernel(context.ctx, reduce_params(fn::Sum{}, matrix, as_matrix(out, matrix.sizes[1])));
}

void LayerBackward::launch(const Args& args, LaunchContext& context) {
  const RecurrenceBackwardParams params = backward_params(args.layer, context);
  run_kernel(context.ctx, params);
  const RecurrenceShape& shape = params.operands.shape;
  const View grads = params.grad_gates;
  const View weight = dense(context, context.in(kInputWeight));
  const auto out = [&](InputIndex i) { return context.out(i); };
  bool is_first_block = true;
  for (const GateBlock& block : shape.input_blocks()) {
    const View block_grads = columns_of(grads, block);
    if (out(kInput).defined())
      multiply(context, block_grads, rows_of(weight, block),
               as_matrix(out(kInput), weight.sizes[1]), !is_first_block);
    if (out(kInputBias).defined()) sum_rows(context, block_grads, rows_of(out(kInputBias), block));
    is_first_block = false;
  }
  if (out(kStateBias).defined())
    sum_rows(
        context,
        columns_of(grads, {0, shape.first_slot() * shape.hidden, shape.gates() * shape.hidden}),
        out(kStateBias));
}

std::vector<Tensor> LayerBackward::formula(const Args& args, const Tensor* in) {
  Tensor x[kForwardInputs];
  autograd::variable_list wanted, outputs, gradients;
  for (int i = 0; i < kForwardInputs; ++i) {
    x[i] = in[i];
    if ((args.wanted & in_slot(i)) == 0) continue;
    if (!x[i].requires_grad()) x[i] = x[i].detach().requires_grad_();
    wanted.push_back(x[i]);
  }
  const RecurrenceResult result = recur_composed(
      {args.layer.mode, args.layer.reverse, args.layer.batch_sizes}, x[kInput], {x[kH0], x[kC0]},
      {x[kInputWeight], x[kStateWeight], x[kInputBias], x[kStateBias], x[kProjection]});
  const Tensor results[] = {result.output, result.h, result.c};
  for (int i = 0; i < 3; ++i)
    if (in[kGradOutput + i].defined()) {
      outputs.push_back(results[i]);
      gradients.push_back(in[kGradOutput + i]);
    }
  const auto found = autograd::grad(outputs, wanted, gradients, true, true, true);
  std::vector<Tensor> grads(kForwardInputs);
  for (int i = 0, k = 0; i < kForwardInputs; ++i)
    if (args.wanted & in_slot(i)) grads[size_t(i)] = found[size_t(k++)];
  return grads;
}

/// Inputs: those of InputIndex up to kProjection. Outputs: output, last h, last c, gates, cells.
struct Layer {
  using Args = LayerArgs;
  static constexpr OpInfo info{
      .name = "_recurrent_layer",
      .node = "RecurrentLayer",
      .arguments = "input,h0,c0,w_ih,w_hh,b_ih,b_hh,w_hr",
      .dtypes = dtypes::kFloatAndDouble,
      .saves = (in_slot(kForwardInputs) - 1) | out_slot(0) | out_slot(3) | out_slot(4),
      .optional = in_slot(kC0) | in_slot(kInputBias) | in_slot(kStateBias) | in_slot(kProjection),
      .outputs = 5,
      .non_differentiable = out_slot(3) | out_slot(4)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl &input = context.in(kInput), &h0 = context.in(kH0);
    const RecurrenceShape shape = shape_of(args, input, h0, context.in(kInputWeight));
    const bool is_lstm = shape.mode == RecurrenceMode::kLstm;
    const auto with_width = [&](int i, int64_t width, bool exists) {
      Dims sizes(input.sizes());
      sizes[sizes.size() - 1] = width;
      context.set(i, sizes, input.dtype);
      context.out(i).defined = exists;
    };
    with_width(0, shape.state, true);
    context.set(1, h0.sizes(), input.dtype);
    context.set(2, Dims{shape.batch, shape.hidden}, input.dtype);
    context.out(2).defined = is_lstm;
    with_width(3, shape.slots() * shape.hidden, shape.gates() > 1);
    with_width(4, shape.hidden, is_lstm);
  }
  static void launch(const Args& args, LaunchContext& context) {
    RecurrenceParams params;
    params.operands = operands_of(args, context);
    const RecurrenceShape& shape = params.operands.shape;
    params.operands.output = as_matrix(context.out(0), shape.state);
    params.operands.gates = params.operands.output;
    if (context.out(3).defined())
      params.operands.gates = as_matrix(context.out(3), shape.slots() * shape.hidden);
    params.operands.cells = context.out(4);
    params.last_h = context.out(1);
    params.last_c = context.out(2);
    params.input_bias = dense(context, context.in(kInputBias));
    params.state_bias = dense(context, context.in(kStateBias));
    const View input = positions(context, context.in(kInput));
    for (const GateBlock& block : shape.input_blocks())
      multiply(context, input, transposed(rows_of(context.in(kInputWeight), block)),
               columns_of(params.operands.gates, block));
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set_wanted(
        invoke<LayerBackward>({args, context.wanted()}, context.in(kInput), context.in(kH0),
                              context.in(kC0), context.in(kInputWeight), context.in(kStateWeight),
                              context.in(kInputBias), context.in(kStateBias),
                              context.in(kProjection), context.grad(0), context.grad(1),
                              context.grad(2), context.out(0), context.out(3), context.out(4))
            .all());
  }
};

bool has_sizes(const Tensor& t, IntArrayRef sizes) { return t.sizes().equals(sizes); }

/// Calls f for the states and weights that are defined.
template <class State, class Weights, class F>
void for_each_defined(State& first, Weights& weights, const F& f) {
  for (auto* t : {&first.h, &first.c, &weights.w_ih, &weights.w_hh, &weights.b_ih, &weights.b_hh,
                  &weights.w_hr})
    if (t->defined()) f(*t);
}

/// Whether the op can compute the layer. If not, recur_composed computes it or throws PyTorch's
/// errors.
bool can_fuse(const RecurrenceLayer& layer, const Tensor& input, const RecurrenceState& first,
              const RecurrenceWeights& weights) {
  const bool is_packed = !layer.batch_sizes.empty(), is_lstm = layer.mode == RecurrenceMode::kLstm;
  const ScalarType dtype = input.scalar_type();
  if ((dtype != kFloat && dtype != kDouble) || input.dim() != (is_packed ? 2 : 3)) return false;
  if (first.h.dim() != 2 || weights.w_ih.dim() != 2 || input.numel() == 0) return false;
  const int64_t batch = is_packed ? layer.batch_sizes[0] : input.size(1);
  const int64_t gates = gates_of(layer.mode);
  const int64_t rows = weights.w_ih.size(0), hidden = rows / gates, state = first.h.size(1);
  bool is_on_one_device = true;
  for_each_defined(first, weights,
                   [&](const Tensor& t) { is_on_one_device &= t.device() == input.device(); });
  if (!is_on_one_device) return false;
  const auto fits = [](const Tensor& t, IntArrayRef sizes) {
    return !t.defined() || has_sizes(t, sizes);
  };
  return rows > 0 && state > 0 && rows == gates * hidden && has_sizes(first.h, {batch, state}) &&
         has_sizes(weights.w_ih, {rows, input.size(-1)}) &&
         has_sizes(weights.w_hh, {rows, state}) && fits(weights.b_ih, {rows}) &&
         fits(weights.b_hh, {rows}) && fits(first.c, {batch, hidden}) &&
         (weights.w_hr.defined() ? is_lstm && has_sizes(weights.w_hr, {state, hidden})
                                 : state == hidden) &&
         has_kernel(input.device(), KernelId::Recurrence);
}

/// Throws if the dtypes differ; PyTorch's error names the factors of a matrix product.
void check_dtypes(const Tensor& input, const Tensor& weight) {
  HEARTH_CHECK(input.scalar_type() == weight.scalar_type(),
               "mat1 and mat2 must have the same dtype, but got ", toString(input.scalar_type()),
               " and ", toString(weight.scalar_type()));
}

/// Whether the input, the states and the weights have one dtype.
bool has_one_dtype(const Tensor& input, const RecurrenceState& first,
                   const RecurrenceWeights& weights) {
  bool is_one_dtype = true;
  for_each_defined(first, weights, [&](const Tensor& t) {
    is_one_dtype &= t.scalar_type() == input.scalar_type();
  });
  return is_one_dtype;
}

/// Computes half types in float32 and rounds once.
RecurrenceResult recur_in_float(const RecurrenceLayer& layer, const Tensor& input,
                                RecurrenceState first, RecurrenceWeights weights) {
  for_each_defined(first, weights, [](Tensor& t) { t = t.to(kFloat); });
  RecurrenceResult result = recur(layer, input.to(kFloat), first, weights);
  for (Tensor* t : {&result.output, &result.h, &result.c})
    if (t->defined()) *t = t->to(input.scalar_type());
  return result;
}

/// Throws unless the weights have a block of rows for each gate.
void check_rows(const RecurrenceLayer& layer, const RecurrenceWeights& weights) {
  const int64_t gates = gates_of(layer.mode);
  HEARTH_CHECK(weights.w_ih.dim() == 2 && weights.w_hh.dim() == 2 &&
                   weights.w_ih.size(0) % gates == 0 &&
                   weights.w_hh.size(0) == weights.w_ih.size(0),
               "Expected weights with ", gates, " * hidden_size rows, but got w_ih of sizes ",
               weights.w_ih.sizes(), " and w_hh of sizes ", weights.w_hh.sizes());
}

}  // namespace

RecurrenceResult recur(const RecurrenceLayer& layer, const Tensor& input,
                       const RecurrenceState& first, const RecurrenceWeights& weights) {
  check_rows(layer, weights);
  // As in PyTorch, autocast casts the products of matrices, and the rest of a step promotes.
  if (uses_autocast(input)) return recur_composed(layer, input, first, weights);
  check_dtypes(input, weights.w_ih);
  check_dtypes(first.h, weights.w_hh);
  if (!has_one_dtype(input, first, weights)) return recur_composed(layer, input, first, weights);
  if (is_reduced_float(input.scalar_type())) return recur_in_float(layer, input, first, weights);
  if (!can_fuse(layer, input, first, weights)) return recur_composed(layer, input, first, weights);
  std::vector<Tensor> results =
      invoke<Layer>({layer.mode, layer.reverse, layer.batch_sizes}, input, first.h, first.c,
                    weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh, weights.w_hr)
          .all();
  return {std::move(results[0]), std::move(results[1]), std::move(results[2])};
}

}  // namespace hearth
