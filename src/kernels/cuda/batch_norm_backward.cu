// The gradients of batch norm. A reduction (reduce_tiles.cuh) sums grad_out and grad_out * (in -
// mean) over each channel; a second pass has one element per thread at a time. Bound by memory
// traffic: the first pass reads grad_out and the input, the second reads grad_out, in training also
// the input, and writes grad_in.
#include "kernels/cuda/batch_norm.cuh"

namespace hearth::cuda {

namespace {

/// A channel's coefficients of the second pass: grad_in = grad_out * by_grad + (in - mean) * by_in
/// + constant.
template <class C>
struct GradientMap {
  C mean, by_grad, by_in, constant;
};

template <class C>
struct GradientArgs {
  ChannelView weight, mean;
  ChannelView invstd_or_var;  // 1 / sqrt(var + eps) when training, else the variance
  ChannelView grad_weight, grad_bias;
  bool training;
  C eps, count;
  GradientMap<C>* maps;

  __device__ C invstd(int64_t channel) const {
    const C value = invstd_or_var.load(channel, C(1));
    return training ? value : 1 / sqrt(value + eps);
  }
};

/// The sums of grad_out and of grad_out * (in - mean) over a channel.
template <class T>
struct GradientSumsOp {
  static constexpr int kInputs = 2, kOutputs = 0, kChains = 4;
  using C = Register<T>;
  struct State {
    C grad, product;
  };
  const char *grad_out, *in;
  const C* means;  // by channel
  GradientArgs<C> channels;

  __device__ State start() const { return {0, 0}; }
  __device__ void add(State& state, const int64_t (&offsets)[2], int64_t, int64_t channel) const {
    const C grad = to_register(*reinterpret_cast<const T*>(grad_out + offsets[0]));
    state.grad += grad;
    state.product +=
        grad * (to_register(*reinterpret_cast<const T*>(in + offsets[1])) - means[channel]);
  }
  __device__ State merge(const State& a, const State& b) const {
    return {a.grad + b.grad, a.product + b.product};
  }
  __device__ void store(int64_t channel, const int64_t (&)[2], const State& sums) const {
    const C invstd = channels.invstd(channel), weight = channels.weight.load(channel, C(1));
    channels.grad_weight.store(channel, sums.product * invstd);
    channels.grad_bias.store(channel, sums.grad);
    GradientMap<C> map{means[channel], weight * invstd, 0, 0};
    if (channels.training) {
      map.by_in = -map.by_grad * invstd * invstd * sums.product / channels.count;
      map.constant = -map.by_grad * sums.grad / channels.count;
    }
    channels.maps[channel] = map;
  }
};

/// Writes the means as numbers of type C. GradientSumsOp::add() reads one for each element, and
/// ChannelView::load() would test the dtype each time.
template <class C>
__global__ void __launch_bounds__(kBlock)
    copy_means_kernel(ChannelView from, C* means, int64_t channels) {
  const int64_t channel = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (channel < channels) means[channel] = from.load(channel, C(0));
}

template <class C>
struct GradInArgs {
  int64_t numel;
  const char *grad_out, *in;
  char* grad_in;
  const GradientMap<C>* maps;
  bool training;
  Offsets<4> offsets;  // grad_out, in, grad_in, channel
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    grad_in_kernel(const __grid_constant__ GradInArgs<Register<T>> args) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[4];
    args.offsets.find(i, offsets);
    const auto map = args.maps[offsets[3]];
    const auto grad = to_register(*reinterpret_cast<const T*>(args.grad_out + offsets[0]));
    auto result = grad * map.by_grad;
    if (args.training) {  // else the gradient does not depend on the input, even if infinite
      const auto value = to_register(*reinterpret_cast<const T*>(args.in + offsets[1]));
      result += (value - map.mean) * map.by_in + map.constant;
    }
    *reinterpret_cast<T*>(args.grad_in + offsets[2]) = to_element<T>(result);
  }
}

template <class T>
void run_typed(const BatchNormBackwardParams& params, Ctx& ctx) {
  using C = Register<T>;
  const NativeStream& stream = stream_of(ctx);
  const int64_t channels = params.in.sizes[1];
  const ChannelView mean(params.training ? params.save_mean : params.running_mean);
  const ChannelView invstd_or_var(params.training ? params.save_invstd : params.running_var);
  C* means = channel_scratch<C>(channels, 1, ctx);
  copy_means_kernel<C>
      <<<static_cast<unsigned>((channels + kBlock - 1) / kBlock), kBlock, 0, stream.stream>>>(
          mean, means, channels);
  const GradientArgs<C> args{ChannelView(params.weight),
                             mean,
                             invstd_or_var,
                             ChannelView(params.grad_weight),
                             ChannelView(params.grad_bias),
                             params.training,
                             static_cast<C>(params.eps),
                             static_cast<C>(params.in.numel / channels),
                             channel_scratch<GradientMap<C>>(channels, 1, ctx)};
  Loop whole(params.in.dim, params.in.sizes);
  whole.add(params.grad_out);
  whole.add(params.in);
  const ChannelLoops loops = channel_loops(whole);
  const GradientSumsOp<T> sums{params.grad_out.as<const char>(), params.in.as<const char>(), means,
                               args};
  launch_reduction(sums, loops.kept, loops.reduced, ctx);
  if (!params.grad_in.defined() || params.in.numel == 0) return;
  whole.add(params.grad_in);
  const GradInArgs<C> grad_in_args{params.in.numel,
                                   params.grad_out.as<const char>(),
                                   params.in.as<const char>(),
                                   params.grad_in.as<char>(),
                                   args.maps,
                                   params.training,
                                   Offsets<4>(elements_with_channel(whole))};
  grad_in_kernel<T><<<grid_for(params.in.numel, stream), kBlock, 0, stream.stream>>>(grad_in_args);
}

}  // namespace

void run(const BatchNormBackwardParams& params, Ctx& ctx) {
  if (params.in.sizes[1] == 0) return;
  with_floating("batch_norm", params.in.dtype,
                [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

}  // namespace hearth::cuda
