// softmax and log_softmax, and their gradients. A reduction (reduce_tiles.cuh) computes the largest
// element and the sum of exponentials of each line, backward a sum; a second pass has one element
// per thread at a time. Bound by memory traffic, since forward reads the input twice and writes
// once, and for half types by exponentials, two per element in the sums and one after them.
#include "seam/softmax.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/floating.h"
#include "kernels/cuda/reduce_tiles.cuh"

namespace hearth::cuda {

namespace {

/// A line's values for the elementwise pass: softmax(x) = exp(x - largest) / sum, log_softmax(x) =
/// x - largest - log(sum).
template <class C>
struct LineState {
  C largest, sum;
};

template <class C>
constexpr C kNegativeInfinity = -static_cast<C>(__builtin_huge_val());

/// The largest element of each line and the sum of exp(x - largest).
template <class T>
struct SoftmaxSumOp {
  static constexpr int kInputs = 1, kOutputs = 0, kChains = 4;
  using C = Register<T>;
  using State = LineState<C>;
  const char* in;
  State* lines;

  __device__ State start() const { return {kNegativeInfinity<C>, C(0)}; }
  __device__ void add(State& state, const int64_t (&offsets)[1], int64_t, int64_t) const {
    state = merge(state, {to_register(*reinterpret_cast<const T*>(in + offsets[0])), C(1)});
  }
  __device__ State merge(const State& a, const State& b) const {
    if (b.sum == C(0)) return a;  // no elements
    if (a.sum == C(0)) return b;
    // NaN and differences of infinities propagate through the sums.
    const C largest = a.largest > b.largest ? a.largest : b.largest;
    return {largest, a.sum * factor(a.largest, largest) + b.sum * factor(b.largest, largest)};
  }
  /// The factor that converts a sum relative to `from` to one relative to `largest`.
  __device__ static C factor(C from, C largest) {
    return from == largest && from == kNegativeInfinity<C> ? C(1) : exp(from - largest);
  }
  __device__ void store(int64_t line, const int64_t (&)[1], const State& state) const {
    lines[line] = state;
  }
};

/// The sum over each line of grad * out, or, for log_softmax, of grad.
template <class T>
struct GradientSumOp {
  static constexpr int kInputs = 2, kOutputs = 0, kChains = 4;
  using C = Register<T>;
  struct State {
    C sum;
  };
  const char *grad, *out;
  C* lines;
  bool log;

  __device__ State start() const { return {C(0)}; }
  __device__ void add(State& state, const int64_t (&offsets)[2], int64_t, int64_t) const {
    const C g = to_register(*reinterpret_cast<const T*>(grad + offsets[0]));
    state.sum += log ? g : g * to_register(*reinterpret_cast<const T*>(out + offsets[1]));
  }
  __device__ State merge(const State& a, const State& b) const { return {a.sum + b.sum}; }
  __device__ void store(int64_t line, const int64_t (&)[2], const State& state) const {
    lines[line] = state.sum;
  }
};

template <int kOperands>
struct SoftmaxElement {
  int64_t numel;
  bool log;
  Offsets<kOperands> offsets;  // of the views in bytes; the last one is the line's number
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    softmax_kernel(const __grid_constant__ SoftmaxElement<3> args, const char* in, char* out,
                   const LineState<Register<T>>* lines) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[3];
    args.offsets.find(i, offsets);
    const auto line = lines[offsets[2]];
    const auto shifted = to_register(*reinterpret_cast<const T*>(in + offsets[0])) - line.largest;
    *reinterpret_cast<T*>(out + offsets[1]) =
        to_element<T>(args.log ? shifted - log(line.sum) : exp(shifted) / line.sum);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    softmax_gradient_kernel(const __grid_constant__ SoftmaxElement<4> args, const char* grad,
                            const char* out, char* grad_in, const Register<T>* lines) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[4];
    args.offsets.find(i, offsets);
    const auto sum = lines[offsets[3]];
    const auto g = to_register(*reinterpret_cast<const T*>(grad + offsets[0]));
    const auto y = to_register(*reinterpret_cast<const T*>(out + offsets[1]));
    *reinterpret_cast<T*>(grad_in + offsets[2]) =
        to_element<T>(args.log ? g - exp(y) * sum : y * (g - sum));
  }
}

/// The loops over lines and along a line, and the strides from which an element's line number
/// follows.
struct SoftmaxLoops {
  Loop kept, reduced;
  int64_t line_strides[kMaxDims];
  SoftmaxLoops(const Loop& whole, int dim) {
    bool keep[kMaxDims];
    for (int d = 0; d < whole.dim; ++d) keep[d] = d != dim;
    kept = select_dims(whole, keep, false);  // unsorted: output number k must be line k
    reduced = select_dims(whole, keep, true);
    reduced.sort();
    int64_t lines = 1;
    for (int d = whole.dim - 1; d >= 0; --d) {
      line_strides[d] = d == dim ? 0 : lines;
      if (d != dim) lines *= whole.sizes[d];
    }
  }
};

template <class C>
C* line_scratch(const Loop& kept, Ctx& ctx) {
  return static_cast<C*>(ctx.scratch(sizeof(C) * static_cast<size_t>(kept.numel())));
}

template <class T>
void run_typed(const SoftmaxParams& params, Ctx& ctx) {
  Loop whole(params.in.dim, params.in.sizes);
  whole.add(params.in);
  const SoftmaxLoops loops(whole, params.dim);
  auto* lines = line_scratch<LineState<Register<T>>>(loops.kept, ctx);
  launch_reduction(SoftmaxSumOp<T>{params.in.as<const char>(), lines}, loops.kept, loops.reduced,
                   ctx);
  whole.add(params.out);
  whole.add(loops.line_strides, 1);
  whole.sort();
  const NativeStream& stream = stream_of(ctx);
  softmax_kernel<T><<<grid_for(params.in.numel, stream), kBlock, 0, stream.stream>>>(
      {params.in.numel, params.log, Offsets<3>(whole)}, params.in.as<const char>(),
      params.out.as<char>(), lines);
}

template <class T>
void run_typed(const SoftmaxBackwardParams& params, Ctx& ctx) {
  using C = Register<T>;
  Loop whole(params.out.dim, params.out.sizes);
  whole.add(params.grad);
  whole.add(params.out);
  const SoftmaxLoops loops(whole, params.dim);
  C* lines = line_scratch<C>(loops.kept, ctx);
  launch_reduction(GradientSumOp<T>{params.grad.as<const char>(), params.out.as<const char>(),
                                    lines, params.log},
                   loops.kept, loops.reduced, ctx);
  whole.add(params.grad_in);
  whole.add(loops.line_strides, 1);
  whole.sort();
  const NativeStream& stream = stream_of(ctx);
  softmax_gradient_kernel<T><<<grid_for(params.out.numel, stream), kBlock, 0, stream.stream>>>(
      {params.out.numel, params.log, Offsets<4>(whole)}, params.grad.as<const char>(),
      params.out.as<const char>(), params.grad_in.as<char>(), lines);
}

}  // namespace

void run(const SoftmaxParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  with_floating("softmax", params.in.dtype,
                [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

void run(const SoftmaxBackwardParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  with_floating("softmax", params.out.dtype,
                [&](auto element) { run_typed<decltype(element)>(params, ctx); });
}

}  // namespace hearth::cuda
