// The negative log-likelihood of target classes, and its gradient. Each thread has one target at a
// time; the total is a reduction (reduce_tiles.cuh) with a single output. Bound by memory traffic:
// per target its class and one score, for which a whole sector of 32 bytes is read where the
// classes are adjacent.
#include "seam/nll_loss.h"

#include "kernels/cuda/batch_norm.cuh"
#include "kernels/cuda/faults.cuh"

namespace hearth::cuda {

namespace {

/// Reads the class of each target, and its weight.
struct TargetReader {
  const char *target, *weight;  // weight may be null
  bool is_byte;
  int64_t weight_stride, classes, class_stride;  // strides in bytes
  int64_t ignore_index;
  FaultSlot* faults;

  TargetReader(const View& scores, const View& labels, const View& weights, int class_dim,
               int64_t ignored, const Ctx& ctx)
      : target(labels.as<const char>()),
        weight(weights.defined() ? weights.as<const char>() : nullptr),
        is_byte(labels.dtype == kByte),
        weight_stride(weights.defined() && weights.dim > 0
                          ? weights.strides[0] * int64_t(element_size(weights.dtype))
                          : 0),
        classes(scores.sizes[class_dim]),
        class_stride(scores.strides[class_dim] * int64_t(element_size(scores.dtype))),
        ignore_index(ignored),
        faults(ctx.faults()) {}

  /// Returns the class of the target at a byte offset; -1 if it is ignored or invalid.
  __device__ int64_t label(int64_t offset) const {
    const int64_t value = is_byte ? int64_t{*reinterpret_cast<const uint8_t*>(target + offset)}
                                  : *reinterpret_cast<const int64_t*>(target + offset);
    if (value == ignore_index) return -1;
    if (value >= 0 && value < classes) return value;
    report(faults, Fault::kBadLabel, value, classes);
    return -1;
  }
  template <class T>
  __device__ Register<T> weight_of(int64_t label) const {
    if (weight == nullptr) return Register<T>(1);
    return to_register(*reinterpret_cast<const T*>(weight + label * weight_stride));
  }
};

/// A loop over the target's positions; its operands are the target and the scores without their
/// class dimension.
Loop target_loop(const View& target, const View& scores, int class_dim) {
  Loop loop(target.dim, target.sizes);
  loop.add(target);
  int64_t strides[kMaxDims];
  for (int d = 0; d < target.dim; ++d) strides[d] = scores.strides[d < class_dim ? d : d + 1];
  loop.add(strides, element_size(scores.dtype));
  return loop;
}

/// Adds the losses or their gradients, which have the target's sizes or are 0-d, to the loop.
void add_losses(Loop& loop, const View& view) {
  constexpr int64_t kZeroStrides[kMaxDims] = {};
  loop.add(view.dim == 0 ? kZeroStrides : view.strides, element_size(view.dtype));
}

struct TargetArgs {
  int64_t numel;
  Offsets<3> offsets;  // target, scores, losses
};

/// Calls f(offsets, label) for every target; an ignored or invalid one has the label -1.
template <class F>
__device__ void for_each_target(const TargetArgs& args, const TargetReader& targets, const F& f) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[3];
    args.offsets.find(i, offsets);
    f(offsets, targets.label(offsets[0]));
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    each_loss_kernel(const __grid_constant__ TargetArgs args,
                     const __grid_constant__ TargetReader targets, const char* in, char* out) {
  using C = Register<T>;
  for_each_target(args, targets, [&](const int64_t(&offsets)[3], int64_t label) {
    C loss = C(0);
    if (label >= 0)
      loss =
          -targets.weight_of<T>(label) *
          to_register(*reinterpret_cast<const T*>(in + offsets[1] + label * targets.class_stride));
    *reinterpret_cast<T*>(out + offsets[2]) = to_element<T>(loss);
  });
}

template <class T>
struct TotalLossOp {
  static constexpr int kInputs = 2, kOutputs = 0, kChains = 1;
  using C = Register<T>;
  struct State {
    C loss, weight;
  };
  TargetReader targets;
  const char* in;
  T *out, *total_weight;
  bool mean;

  __device__ State start() const { return {0, 0}; }
  __device__ void add(State& state, const int64_t (&offsets)[2], int64_t, int64_t) const {
    const int64_t label = targets.label(offsets[0]);
    if (label < 0) return;
    const C weight = targets.weight_of<T>(label);
    state.loss -=
        weight *
        to_register(*reinterpret_cast<const T*>(in + offsets[1] + label * targets.class_stride));
    state.weight += weight;
  }
  __device__ State merge(const State& a, const State& b) const {
    return {a.loss + b.loss, a.weight + b.weight};
  }
  __device__ void store(int64_t, const int64_t (&)[2], const State& state) const {
    *out = to_element<T>(mean ? state.loss / state.weight : state.loss);
    *total_weight = to_element<T>(state.weight);
  }
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    loss_gradient_kernel(const __grid_constant__ TargetArgs args,
                         const __grid_constant__ TargetReader targets, const char* grad,
                         const T* total_weight, char* grad_in) {
  using C = Register<T>;
  for_each_target(args, targets, [&](const int64_t(&offsets)[3], int64_t label) {
    if (label < 0) return;
    C value =
        -targets.weight_of<T>(label) * to_register(*reinterpret_cast<const T*>(grad + offsets[2]));
    if (total_weight != nullptr) value /= to_register(*total_weight);
    *reinterpret_cast<T*>(grad_in + offsets[1] + label * targets.class_stride) =
        to_element<T>(value);
  });
}

template <class T>
void run_typed(const NllLossParams& params, Ctx& ctx) {
  const TargetReader targets(params.in, params.target, params.weight, params.class_dim,
                             params.ignore_index, ctx);
  Loop loop = target_loop(params.target, params.in, params.class_dim);
  if (params.reduce) {
    Loop single_output;
    single_output.operands = 2;
    loop.sort();
    return launch_reduction(TotalLossOp<T>{targets, params.in.as<const char>(), params.out.as<T>(),
                                           params.total_weight.as<T>(), params.mean},
                            single_output, loop, ctx);
  }
  add_losses(loop, params.out);
  loop.sort();
  const NativeStream& stream = stream_of(ctx);
  each_loss_kernel<T><<<grid_for(params.target.numel, stream), kBlock, 0, stream.stream>>>(
      {params.target.numel, Offsets<3>(loop)}, targets, params.in.as<const char>(),
      params.out.as<char>());
}

template <class T>
void run_typed(const NllLossBackwardParams& params, Ctx& ctx) {
  if (params.target.numel == 0) return;
  const TargetReader targets(params.grad_in, params.target, params.weight, params.class_dim,
                             params.ignore_index, ctx);
  Loop loop = target_loop(params.target, params.grad_in, params.class_dim);
  add_losses(loop, params.grad);
  loop.sort();
  const NativeStream& stream = stream_of(ctx);
  loss_gradient_kernel<T><<<grid_for(params.target.numel, stream), kBlock, 0, stream.stream>>>(
      {params.target.numel, Offsets<3>(loop)}, targets, params.grad.as<const char>(),
      params.mean ? params.total_weight.as<const T>() : nullptr, params.grad_in.as<char>());
}

}  // namespace

void run(const NllLossParams& params, Ctx& ctx) {
  with_floating("nll_loss", params.in.dtype,
                [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

void run(const NllLossBackwardParams& params, Ctx& ctx) {
  with_floating("nll_loss", params.grad_in.dtype,
                [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

}  // namespace hearth::cuda
