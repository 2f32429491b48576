// Batch norm. In training, a reduction (reduce_tiles.cuh) computes the statistics of each channel;
// in evaluation, one thread per channel reads them. A second pass has one element per thread at a
// time. Bound by memory traffic, since training reads the input twice and writes the output once,
// and in the statistics of half types also by Welford's division for each element.
#include "kernels/cuda/batch_norm.cuh"

namespace hearth::cuda {

namespace {

/// A channel's coefficients of the second pass: out = (in - mean) * scale + shift.
template <class C>
struct ChannelMap {
  C mean, scale, shift;
};

template <class C>
struct ChannelArgs {
  ChannelView weight, bias, running_mean, running_var, save_mean, save_invstd;
  ChannelMap<C>* maps;
  C momentum, eps;

  __device__ void set_map(int64_t channel, C mean, C invstd) const {
    maps[channel] = {mean, invstd * weight.load(channel, C(1)), bias.load(channel, C(0))};
  }
};

/// Mean and squared deviation by Welford's method; stores the channels' statistics and maps. The
/// channel's first element is subtracted from all, so that a large mean does not reduce precision.
template <class T>
struct StatisticsOp {
  static constexpr int kInputs = 1, kOutputs = 0, kChains = 4;
  using C = Register<T>;
  using State = Moments<C>;
  const char* in;
  int64_t channel_stride;  // in bytes
  ChannelArgs<C> channels;

  __device__ C first_of(int64_t channel) const {
    return to_register(*reinterpret_cast<const T*>(in + channel * channel_stride));
  }

  __device__ State start() const { return {0, 0, 0}; }
  __device__ void add(State& state, const int64_t (&offsets)[1], int64_t, int64_t channel) const {
    state.add(to_register(*reinterpret_cast<const T*>(in + offsets[0])) - first_of(channel));
  }
  __device__ State merge(const State& a, const State& b) const { return State::merged(a, b); }
  __device__ void store(int64_t channel, const int64_t (&)[1], const State& state) const {
    const C mean = state.mean + first_of(channel), variance = state.deviation / state.count;
    const C invstd = inverse_deviation(variance, channels.eps);
    channels.save_mean.store(channel, mean);
    channels.save_invstd.store(channel, invstd);
    const C momentum = channels.momentum, unbiased = state.deviation / (state.count - 1);
    if (channels.running_mean.data != nullptr)
      channels.running_mean.store(
          channel, (1 - momentum) * channels.running_mean.load(channel, C(0)) + momentum * mean);
    if (channels.running_var.data != nullptr)
      channels.running_var.store(
          channel, (1 - momentum) * channels.running_var.load(channel, C(0)) + momentum * unbiased);
    channels.set_map(channel, mean, invstd);
  }
};

/// Computes the maps for evaluation, from the running statistics.
template <class C>
__global__ void __launch_bounds__(kBlock)
    running_map_kernel(const __grid_constant__ ChannelArgs<C> args, int64_t channels) {
  const int64_t channel = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (channel >= channels) return;
  const C variance = args.running_var.load(channel, C(1));
  args.set_map(channel, args.running_mean.load(channel, C(0)), 1 / sqrt(variance + args.eps));
}

template <class C>
struct NormalizeArgs {
  int64_t numel;
  const char* in;
  char* out;
  const ChannelMap<C>* maps;
  Offsets<3> offsets;  // in, out, channel
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    normalize_kernel(const __grid_constant__ NormalizeArgs<Register<T>> args) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[3];
    args.offsets.find(i, offsets);
    const auto map = args.maps[offsets[2]];
    const auto value = to_register(*reinterpret_cast<const T*>(args.in + offsets[0]));
    *reinterpret_cast<T*>(args.out + offsets[1]) =
        to_element<T>((value - map.mean) * map.scale + map.shift);
  }
}

template <class T>
void run_typed(const BatchNormParams& params, Ctx& ctx) {
  using C = Register<T>;
  const NativeStream& stream = stream_of(ctx);
  const int64_t channels = params.in.sizes[1];
  auto* maps = channel_scratch<ChannelMap<C>>(channels, 1, ctx);
  const ChannelArgs<C> args{ChannelView(params.weight),
                            ChannelView(params.bias),
                            ChannelView(params.running_mean),
                            ChannelView(params.running_var),
                            ChannelView(params.save_mean),
                            ChannelView(params.save_invstd),
                            maps,
                            static_cast<C>(params.momentum),
                            static_cast<C>(params.eps)};
  Loop whole(params.in.dim, params.in.sizes);
  whole.add(params.in);
  if (params.training) {
    const ChannelLoops loops = channel_loops(whole);
    const StatisticsOp<T> op{params.in.as<const char>(),
                             params.in.strides[1] * static_cast<int64_t>(sizeof(T)), args};
    launch_reduction(op, loops.kept, loops.reduced, ctx);
  } else {
    const auto grid = static_cast<unsigned>((channels + kBlock - 1) / kBlock);
    running_map_kernel<C><<<grid, kBlock, 0, stream.stream>>>(args, channels);
  }
  whole.add(params.out);
  const NormalizeArgs<C> normalize{params.in.numel, params.in.as<const char>(),
                                   params.out.as<char>(), maps,
                                   Offsets<3>(elements_with_channel(whole))};
  normalize_kernel<T><<<grid_for(params.in.numel, stream), kBlock, 0, stream.stream>>>(normalize);
}

}  // namespace

void run(const BatchNormParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  with_floating("batch_norm", params.in.dtype,
                [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

}  // namespace hearth::cuda
