// Layer norm, group norm and rms norm, and their gradients. Reductions (reduce_tiles.cuh) compute
// the statistics or sums of each row and channel; a last pass has one element per thread at a time.
// Bound by memory traffic: forward reads the input twice and writes once; backward reads the
// gradient and the input up to three times and writes once.
#include "seam/row_norm.h"

#include "kernels/cuda/batch_norm.cuh"

namespace hearth::cuda {

namespace {

/// Returns the kept or (`inverse`) the reduced dimensions of a loop, merged to save divisions.
Loop select_merged(const Loop& loop, const bool* keep, bool inverse) {
  Loop result = select_dims(loop, keep, inverse);
  result.merge();
  return result;
}

/// A loop over samples, groups, channels of a group and elements of a channel.
Loop row_loop(const RowNormShape& shape) {
  const int64_t sizes[] = {shape.rows / shape.groups, shape.groups, shape.channels, shape.inner};
  return Loop(4, sizes);
}
constexpr bool kKeepRows[] = {true, true, false, false};
constexpr bool kKeepChannels[] = {false, true, true, false};

// Add an operand to the loop: a contiguous tensor with a value per element, row or channel.
void add_elements(Loop& loop, const RowNormShape& shape, ScalarType dtype) {
  const int64_t strides[] = {shape.groups * shape.length(), shape.length(), shape.inner, 1};
  loop.add(strides, element_size(dtype));
}
void add_rows(Loop& loop, const RowNormShape& shape) {
  const int64_t strides[] = {shape.groups, 1, 0, 0};
  loop.add(strides, 1);
}
void add_channels(Loop& loop, const RowNormShape& shape) {
  const int64_t strides[] = {0, shape.channels, 1, 0};
  loop.add(strides, 1);
}

template <class C>
struct RowStatistics {
  C mean, rstd;
};

/// Mean and rstd = 1 / sqrt(var + eps) of each row by Welford's method; not centered, the mean is 0
/// and `var` the mean square. If centered, the row's first element is subtracted from all, so that
/// a large mean does not reduce precision.
template <class T>
struct RowStatisticsOp {
  static constexpr int kInputs = 1, kOutputs = 0, kChains = 4;
  using C = Register<T>;
  using State = Moments<C>;
  const char* in;
  int64_t length;
  bool centered;
  C eps;
  ChannelView mean, rstd;
  RowStatistics<C>* rows;

  __device__ C first_of(int64_t row) const {
    return centered ? to_register(reinterpret_cast<const T*>(in)[row * length]) : C(0);
  }
  __device__ State start() const { return {0, 0, 0}; }
  __device__ void add(State& state, const int64_t (&offsets)[1], int64_t, int64_t row) const {
    state.add(to_register(*reinterpret_cast<const T*>(in + offsets[0])) - first_of(row), centered);
  }
  __device__ State merge(const State& a, const State& b) const { return State::merged(a, b); }
  __device__ void store(int64_t row, const int64_t (&)[1], const State& state) const {
    const RowStatistics<C> values{state.mean + first_of(row),
                                  1 / sqrt(state.deviation / state.count + eps)};
    mean.store(row, values.mean);
    rstd.store(row, values.rstd);
    rows[row] = values;
  }
};

template <int kOperands>
struct ElementArgs {
  int64_t numel;
  Offsets<kOperands> offsets;
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    normalize_rows_kernel(const __grid_constant__ ElementArgs<3> args, const T* in, T* out,
                          const RowStatistics<Register<T>>* rows,
                          const __grid_constant__ ChannelView weight,
                          const __grid_constant__ ChannelView bias) {
  using C = Register<T>;
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[3];  // element, row, channel
    args.offsets.find(i, offsets);
    const RowStatistics<C> row = rows[offsets[1]];
    const C value = (to_register(in[offsets[0]]) - row.mean) * row.rstd;
    out[offsets[0]] =
        to_element<T>(value * weight.load(offsets[2], C(1)) + bias.load(offsets[2], C(0)));
  }
}

/// Returns a ChannelView of all elements of a contiguous tensor.
ChannelView flat(View view) {
  if (!view.defined()) return {};
  view.strides[0] = 1;
  return ChannelView(view);
}

template <class C>
C* scratch_for(int64_t count, Ctx& ctx) {
  return static_cast<C*>(ctx.scratch(sizeof(C) * static_cast<size_t>(count)));
}

/// The loop of the elementwise passes: element, row, channel.
Loop element_loop(const RowNormShape& shape) {
  Loop loop = row_loop(shape);
  const int64_t strides[] = {shape.groups * shape.length(), shape.length(), shape.inner, 1};
  loop.add(strides, 1);
  add_rows(loop, shape);
  add_channels(loop, shape);
  loop.merge();
  return loop;
}

template <class T>
void run_typed(const RowNormParams& params, Ctx& ctx) {
  using C = Register<T>;
  const RowNormShape& shape = params.shape;
  auto* rows = scratch_for<RowStatistics<C>>(shape.rows, ctx);
  Loop whole = row_loop(shape);
  add_elements(whole, shape, params.in.dtype);
  const RowStatisticsOp<T> op{params.in.as<const char>(),
                              shape.length(),
                              shape.centered,
                              static_cast<C>(params.eps),
                              flat(params.mean),
                              flat(params.rstd),
                              rows};
  launch_reduction(op, select_merged(whole, kKeepRows, false),
                   select_merged(whole, kKeepRows, true), ctx);
  const NativeStream& stream = stream_of(ctx);
  normalize_rows_kernel<T><<<grid_for(params.in.numel, stream), kBlock, 0, stream.stream>>>(
      {params.in.numel, Offsets<3>(element_loop(shape))}, params.in.as<const T>(),
      params.out.as<T>(), rows, flat(params.weight), flat(params.bias));
}

template <class C>
__global__ void __launch_bounds__(kBlock)
    load_rows_kernel(ChannelView mean, ChannelView rstd, RowStatistics<C>* rows, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < count; i += step)
    rows[i] = {mean.load(i, C(0)), rstd.load(i, C(1))};
}

/// Sums of g = grad * weight and of g * (in - mean): over rows for the gradient of the input; over
/// channels, with weight 1 and factor rstd, for the gradients of weight and bias.
template <class T>
struct RowGradientSumsOp {
  static constexpr int kInputs = 4, kOutputs = 0, kChains = 4;  // grad, in, row, channel
  using C = Register<T>;
  struct State {
    C grad, product;
  };
  const char *grad, *in;
  const RowStatistics<C>* rows;
  ChannelView weight;  // undefined over channels
  bool over_channels;
  State* sums;
  ChannelView grad_weight, grad_bias;

  __device__ State start() const { return {0, 0}; }
  __device__ void add(State& state, const int64_t (&offsets)[4], int64_t, int64_t) const {
    const RowStatistics<C> row = rows[offsets[2]];
    const C g =
        to_register(*reinterpret_cast<const T*>(grad + offsets[0])) * weight.load(offsets[3], C(1));
    const C deviation = to_register(*reinterpret_cast<const T*>(in + offsets[1])) - row.mean;
    state.grad += g;
    state.product += g * (over_channels ? deviation * row.rstd : deviation);
  }
  __device__ State merge(const State& a, const State& b) const {
    return {a.grad + b.grad, a.product + b.product};
  }
  __device__ void store(int64_t k, const int64_t (&)[4], const State& state) const {
    if (!over_channels) {
      sums[k] = state;
      return;
    }
    grad_weight.store(k, state.product);
    grad_bias.store(k, state.grad);
  }
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    row_gradient_kernel(const __grid_constant__ ElementArgs<3> args, const T* grad, const T* in,
                        T* grad_in, const RowStatistics<Register<T>>* rows,
                        const typename RowGradientSumsOp<T>::State* sums,
                        const __grid_constant__ ChannelView weight, Register<T> length,
                        bool centered) {
  using C = Register<T>;
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[3];
    args.offsets.find(i, offsets);
    const RowStatistics<C> row = rows[offsets[1]];
    const auto sum = sums[offsets[1]];
    const C g = to_register(grad[offsets[0]]) * weight.load(offsets[2], C(1));
    const C normalized = (to_register(in[offsets[0]]) - row.mean) * row.rstd;
    const C mean = centered ? sum.grad / length : C(0);
    grad_in[offsets[0]] =
        to_element<T>((g - mean - normalized * (sum.product * row.rstd / length)) * row.rstd);
  }
}

template <class T>
void run_typed(const RowNormBackwardParams& params, Ctx& ctx) {
  using C = Register<T>;
  using Op = RowGradientSumsOp<T>;
  const RowNormShape& shape = params.shape;
  const NativeStream& stream = stream_of(ctx);
  auto* rows = scratch_for<RowStatistics<C>>(shape.rows, ctx);
  load_rows_kernel<C><<<grid_for(shape.rows, stream), kBlock, 0, stream.stream>>>(
      flat(params.mean), flat(params.rstd), rows, shape.rows);
  Loop whole = row_loop(shape);
  add_elements(whole, shape, params.in.dtype);
  add_elements(whole, shape, params.in.dtype);
  add_rows(whole, shape);
  add_channels(whole, shape);
  Op op{params.grad.as<const char>(), params.in.as<const char>(), rows, {}, true, nullptr,
        flat(params.grad_weight),     flat(params.grad_bias)};
  if (params.grad_weight.defined() || params.grad_bias.defined())
    launch_reduction(op, select_merged(whole, kKeepChannels, false),
                     select_merged(whole, kKeepChannels, true), ctx);
  if (!params.grad_in.defined()) return;
  op.over_channels = false;
  op.weight = flat(params.weight);
  op.sums = scratch_for<typename Op::State>(shape.rows, ctx);
  launch_reduction(op, select_merged(whole, kKeepRows, false),
                   select_merged(whole, kKeepRows, true), ctx);
  row_gradient_kernel<T><<<grid_for(params.in.numel, stream), kBlock, 0, stream.stream>>>(
      {params.in.numel, Offsets<3>(element_loop(shape))}, params.grad.as<const T>(),
      params.in.as<const T>(), params.grad_in.as<T>(), rows, op.sums, op.weight,
      static_cast<C>(shape.length()), shape.centered);
}

}  // namespace

void run(const RowNormParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  with_floating("row_norm", params.in.dtype,
                [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

void run(const RowNormBackwardParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  with_floating("row_norm", params.in.dtype,
                [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

}  // namespace hearth::cuda
