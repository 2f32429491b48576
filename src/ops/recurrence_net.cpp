// Recurrent nets as one op by the device's library, or layer by layer.
#include "seam/recurrence_net.h"

#include "autograd/tangents.h"
#include "core/backends.h"
#include "core/modes.h"
#include "core/numerics.h"
#include "core/streams.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/composed_gradient.h"
#include "ops/copy.h"
#include "ops/define.h"
#include "ops/recurrence.h"

namespace hearth {

namespace {

// The inputs of RecurrentNet (up to kNetWeights) and RecurrentNetBackward (all).
enum NetInputIndex {
  kNetInput,
  kNetH0,
  kNetC0,
  kNetWeights,
  kNetGradOutput,
  kNetGradH,
  kNetGradC,
  kNetOutput,
  kNetReserve
};
constexpr int kNetInputs = kNetGradOutput, kNetFormulaInputs = kNetOutput;

struct RecurrentNetArgs {
  RecurrenceMode mode;
  bool bidirectional, has_biases, saves;
  int64_t hidden;
  std::vector<int64_t> batch_sizes;
  int64_t reserve_bytes;
  HEARTH_FIELDS(mode, bidirectional, has_biases, saves, hidden, batch_sizes, reserve_bytes)
};

RecurrenceNetShape shape_of(const RecurrentNetArgs& args, const TensorImpl& input,
                            const TensorImpl& h0) {
  RecurrenceNetShape shape;
  shape.mode = args.mode;
  shape.dtype = input.dtype;
  shape.has_biases = args.has_biases;
  shape.bidirectional = args.bidirectional;
  shape.saves = args.saves;
  shape.layers = h0.sizes()[0] / shape.directions();
  shape.input = input.sizes()[input.sizes().size() - 1];
  shape.hidden = args.hidden;
  shape.state = h0.sizes()[2];
  shape.batch_sizes = args.batch_sizes;
  return shape;
}

RecurrenceNetOperands net_operands(const RecurrentNetArgs& args, LaunchContext& context) {
  RecurrenceNetOperands operands;
  operands.shape = shape_of(args, context.in_impl(kNetInput), context.in_impl(kNetH0));
  operands.input = dense(context, context.in(kNetInput));
  operands.h0 = dense(context, context.in(kNetH0));
  operands.c0 = dense(context, context.in(kNetC0));
  operands.weights = dense(context, context.in(kNetWeights));
  return operands;
}

/// The parameters of each layer and direction, as views of the net's vector of weights.
std::vector<RecurrenceWeights> split_weights(const RecurrenceNetShape& shape,
                                             const Tensor& vector) {
  const int64_t rows = shape.gates() * shape.hidden;
  std::vector<RecurrenceWeights> result;
  int64_t start = 0;
  const auto next = [&](IntArrayRef sizes) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    start += count;
    return vector.narrow(0, start - count, count).view(sizes);
  };
  for (int64_t i = 0; i < shape.layers * shape.directions(); ++i) {
    RecurrenceWeights weights;
    weights.w_ih = next({rows, shape.features_of(i / shape.directions())});
    weights.w_hh = next({rows, shape.state});
    if (shape.has_biases) {
      weights.b_ih = next({rows});
      weights.b_hh = next({rows});
    }
    if (shape.projects()) weights.w_hr = next({shape.state, shape.hidden});
    result.push_back(std::move(weights));
  }
  return result;
}

/// Inputs: all of NetInputIndex. Outputs: the gradients of the forward op's inputs.
struct RecurrentNetBackward {
  struct Args {
    RecurrentNetArgs net;
    SlotSet wanted;
    HEARTH_FIELDS(net.mode, net.bidirectional, net.has_biases, net.hidden, net.batch_sizes, wanted)
  };
  static constexpr OpInfo info{
      .name = "_recurrent_net_backward",
      .node = "RecurrentNetBackward",
      .arguments = "input,h0,c0,weights,grad_output,grad_h,grad_c,output,reserve",
      .dtypes = dtypes::kFloating,
      .saves = in_slot(kNetFormulaInputs) - 1,
      .optional =
          in_slot(kNetC0) | in_slot(kNetGradOutput) | in_slot(kNetGradH) | in_slot(kNetGradC),
      .outputs = kNetInputs};
  static void infer(const Args& args, InferContext& context) {
    for (int i = 0; i < kNetInputs; ++i) {
      if (context.has(i)) context.set(i, context.in(i).sizes(), context.in(i).dtype);
      context.out(i).defined = context.has(i) && (args.wanted & in_slot(i)) != 0;
    }
  }
  static void launch(const Args& args, LaunchContext& context) {
    RecurrenceNetBackwardParams params;
    params.operands = net_operands(args.net, context);
    params.operands.output = dense(context, context.in(kNetOutput));
    params.operands.reserve = context.in(kNetReserve);
    params.grad_output = dense(context, context.in(kNetGradOutput));
    params.grad_last_h = dense(context, context.in(kNetGradH));
    params.grad_last_c = dense(context, context.in(kNetGradC));
    params.grad_input = context.out(kNetInput);
    params.grad_h0 = context.out(kNetH0);
    params.grad_c0 = context.out(kNetC0);
    params.grad_weights = context.out(kNetWeights);
    run_kernel(context.ctx, params);
  }
  /// The gradients by differentiable ops.
  static std::vector<Tensor> formula(const Args& args, const Tensor* in) {
    Tensor x[kNetInputs];
    autograd::variable_list wanted, outputs, gradients;
    for (int i = 0; i < kNetInputs; ++i) {
      x[i] = in[i];
      if ((args.wanted & in_slot(i)) == 0) continue;
      if (!x[i].requires_grad()) x[i] = x[i].detach().requires_grad_();
      wanted.push_back(x[i]);
    }
    const RecurrenceNetShape shape = shape_of(args.net, impl_of(x[kNetInput]), impl_of(x[kNetH0]));
    const std::vector<Tensor> h = x[kNetH0].unbind(0);
    const RecurrenceResult result = recur_layers(
        {shape.mode, shape.bidirectional,
         x[kNetInput].dim() == 2 ? shape.batch_sizes : std::vector<int64_t>()},
        x[kNetInput], h, x[kNetC0].defined() ? x[kNetC0].unbind(0) : std::vector<Tensor>(h.size()),
        split_weights(shape, x[kNetWeights]));
    const Tensor results[] = {result.output, result.h, result.c};
    for (int i = 0; i < 3; ++i)
      if (in[kNetGradOutput + i].defined()) {
        outputs.push_back(results[i]);
        gradients.push_back(in[kNetGradOutput + i]);
      }
    const auto found = autograd::grad(outputs, wanted, gradients, true, true, true);
    std::vector<Tensor> grads(kNetInputs);
    for (int i = 0, k = 0; i < kNetInputs; ++i)
      if (args.wanted & in_slot(i)) grads[size_t(i)] = found[size_t(k++)];
    return grads;
  }
  static void grad(const Args& args, GradContext& context) {
    composed_gradient(context, kNetFormulaInputs,
                      [&](const Tensor* in) { return formula(args, in); });
  }
};

/// Inputs: those of NetInputIndex up to kNetWeights. Outputs: output, last h, last c, and memory
/// for backward.
struct RecurrentNet {
  using Args = RecurrentNetArgs;
  static constexpr OpInfo info{.name = "_recurrent_net",
                               .node = "RecurrentNet",
                               .arguments = "input,h0,c0,weights",
                               .dtypes = dtypes::kFloating,
                               .saves = (in_slot(kNetInputs) - 1) | out_slot(0) | out_slot(3),
                               .optional = in_slot(kNetC0),
                               .outputs = 4,
                               .non_differentiable = out_slot(3)};
  static void infer(const Args& args, InferContext& context) {
    const TensorImpl &input = context.in(kNetInput), &h0 = context.in(kNetH0);
    const RecurrenceNetShape shape = shape_of(args, input, h0);
    Dims sizes(input.sizes());
    sizes[sizes.size() - 1] = shape.directions() * shape.state;
    context.set(0, sizes, input.dtype);
    context.set(1, h0.sizes(), input.dtype);
    if (context.has(kNetC0)) context.set(2, context.in(kNetC0).sizes(), input.dtype);
    context.out(2).defined = context.has(kNetC0);
    context.set(3, {args.reserve_bytes}, kByte);
    context.out(3).defined = args.saves;
  }
  static void launch(const Args& args, LaunchContext& context) {
    RecurrenceNetParams params;
    params.operands = net_operands(args, context);
    params.operands.output = context.out(0);
    params.operands.reserve = context.out(3);
    params.last_h = context.out(1);
    params.last_c = context.out(2);
    run_kernel(context.ctx, params);
  }
  static void grad(const Args& args, GradContext& context) {
    context.set_wanted(invoke<RecurrentNetBackward>(
                           {args, context.wanted()}, context.in(kNetInput), context.in(kNetH0),
                           context.in(kNetC0), context.in(kNetWeights), context.grad(0),
                           context.grad(1), context.grad(2), context.out(0), context.out(3))
                           .all());
  }
};

/// The bytes that the library needs for a backward pass; nullopt if it refuses the net.
std::optional<int64_t> plan(const RecurrenceNetShape& shape, Device device) {
  Backend& backend = backend_of(device);
  const StreamHandle stream = current_stream(device);
  Ctx ctx(backend, device, stream, backend.fault_slot(device.index(), stream), current_numerics());
  return backend.plan_recurrence_net(shape, ctx);
}

/// The tensors of a net, which have one dtype and are on one device if the library is to run it.
std::vector<Tensor> tensors_of(const Tensor& input, const Tensor& h0, const Tensor& c0,
                               const std::vector<RecurrenceWeights>& weights) {
  std::vector<Tensor> result{input, h0};
  if (c0.defined()) result.push_back(c0);
  for (const RecurrenceWeights& w : weights)
    for (const Tensor* t : {&w.w_ih, &w.w_hh, &w.b_ih, &w.b_hh, &w.w_hr})
      if (t->defined()) result.push_back(*t);
  return result;
}

/// The shape of a net; nullopt if the input is empty or if the sizes do not fit, which recur_layers
/// reports.
std::optional<RecurrenceNetShape> checked_shape(const RecurrenceLayers& layers, const Tensor& input,
                                                const Tensor& h0, const Tensor& c0,
                                                const std::vector<RecurrenceWeights>& weights) {
  if (weights.empty() || weights[0].w_ih.dim() != 2 || h0.dim() != 3 || input.numel() == 0)
    return {};
  RecurrenceNetShape shape;
  shape.mode = layers.mode;
  shape.dtype = input.scalar_type();
  shape.has_biases = weights[0].b_ih.defined();
  shape.bidirectional = layers.bidirectional;
  shape.layers = int64_t(weights.size()) / layers.directions();
  shape.input = input.size(-1);
  shape.hidden = weights[0].w_ih.size(0) / shape.gates();
  shape.state = h0.size(2);
  shape.batch_sizes = layers.batch_sizes;
  if (input.dim() == 3) shape.batch_sizes.assign(size_t(input.size(0)), input.size(1));
  const int64_t rows = shape.gates() * shape.hidden, count = shape.layers * shape.directions();
  const auto has = [](const Tensor& t, bool exists, IntArrayRef sizes) {
    return t.defined() == exists && (!exists || t.sizes().equals(sizes));
  };
  bool fits = has(h0, true, {count, shape.batch(), shape.state}) &&
              has(c0, shape.mode == RecurrenceMode::kLstm, {count, shape.batch(), shape.hidden});
  for (int64_t i = 0; fits && i < count; ++i) {
    const RecurrenceWeights& w = weights[size_t(i)];
    fits = has(w.w_ih, true, {rows, shape.features_of(i / shape.directions())}) &&
           has(w.w_hh, true, {rows, shape.state}) && has(w.b_ih, shape.has_biases, {rows}) &&
           has(w.b_hh, shape.has_biases, {rows}) &&
           has(w.w_hr, shape.projects(), {shape.state, shape.hidden});
  }
  if (!fits) return {};
  return shape;
}

/// The parameters of all layers, flattened and joined.
Tensor joined_weights(const std::vector<RecurrenceWeights>& weights) {
  std::vector<Tensor> parts;
  for (const RecurrenceWeights& w : weights)
    for (const Tensor* t : {&w.w_ih, &w.w_hh, &w.b_ih, &w.b_hh, &w.w_hr})
      if (t->defined()) parts.push_back(t->flatten());
  return cat(parts);
}

}  // namespace

RecurrenceResult recur_layers(const RecurrenceLayers& layers, Tensor input,
                              const std::vector<Tensor>& h, const std::vector<Tensor>& c,
                              const std::vector<RecurrenceWeights>& weights) {
  std::vector<Tensor> last_h, last_c;
  for (size_t i = 0; i < weights.size();) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < layers.directions(); ++direction, ++i) {
      RecurrenceResult result =
          recur({layers.mode, direction == 1, layers.batch_sizes}, input, {h[i], c[i]}, weights[i]);
      outputs.push_back(std::move(result.output));
      last_h.push_back(std::move(result.h));
      if (c[0].defined()) last_c.push_back(std::move(result.c));
    }
    input = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
  }
  return {input, stack(last_h), last_c.empty() ? Tensor() : stack(last_c)};
}

std::optional<RecurrenceResult> recur_by_library(const RecurrenceLayers& layers,
                                                 const Tensor& input, const Tensor& h0,
                                                 const Tensor& c0,
                                                 const std::vector<RecurrenceWeights>& weights) {
  if (!input.is_cuda() || !has_kernel(input.device(), KernelId::RecurrenceNet)) return {};
  std::optional<RecurrenceNetShape> shape = checked_shape(layers, input, h0, c0, weights);
  if (!shape) return {};
  shape->saves = false;
  for (const Tensor& t : tensors_of(input, h0, c0, weights)) {
    if (t.scalar_type() != shape->dtype || t.device() != input.device()) return {};
    shape->saves |= autograd::wants_derivative(t);
  }
  const std::optional<int64_t> bytes = plan(*shape, input.device());
  if (!bytes) return {};
  std::vector<Tensor> results =
      invoke<RecurrentNet>({shape->mode, shape->bidirectional, shape->has_biases, shape->saves,
                            shape->hidden, shape->batch_sizes, shape->saves ? *bytes : 0},
                           input, h0, c0, joined_weights(weights))
          .all();
  return RecurrenceResult{std::move(results[0]), std::move(results[1]), std::move(results[2])};
}

}  // namespace hearth
