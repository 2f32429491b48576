// Fills tensors with random numbers. Each thread computes a Philox block at a time and uses all of
// it, for 4, 2 or 1 elements that are adjacent in row-major order. Bound by arithmetic (ten rounds
// per Philox block, the logarithms of normal and exponential numbers, the 64-bit remainders of
// integers) and by writing the elements.
#include "seam/random.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/faults.cuh"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/random.h"
#include "kernels/cuda/stream.h"
#include "kernels/draws.h"

namespace hearth::cuda {

namespace {

/// A Philox stream and the elements that it fills, in row-major order.
struct RandomArgs {
  RandomSource source;
  int64_t numel;
  char* out;
  const char* probabilities;
  Offsets<2> offsets;  // out, probabilities
  FaultSlot* faults;
};

RandomArgs random_args(const RandomParams& params, const Ctx& ctx) {
  const View& probabilities = params.probabilities.defined() ? params.probabilities : params.out;
  Loop loop(params.out.dim, params.out.sizes);
  loop.add(params.out);
  loop.add(probabilities);
  loop.merge();
  return {params.source,    params.out.numel, params.out.as<char>(), probabilities.as<const char>(),
          Offsets<2>(loop), ctx.faults()};
}

/// Calls work(element index, bits) for every element.
template <class Bits, class F>
__device__ __forceinline__ void for_each_bits(const RandomArgs& args, F work) {
  constexpr int kLanes = kPhiloxLanes<Bits>;
  const PhiloxKey key = philox_key(args.source);
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t b = int64_t{blockIdx.x} * kBlock + threadIdx.x; b * kLanes < args.numel; b += step) {
    const PhiloxBlock block = philox(key.seed, static_cast<uint64_t>(b), key.offset);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane)
      if (const int64_t i = b * kLanes + lane; i < args.numel)
        work(i, philox_lane<Bits>(block, lane));
  }
}

template <class T, class Draw>
__global__ void __launch_bounds__(kBlock)
    draw_kernel(const __grid_constant__ Draw draw, const __grid_constant__ RandomArgs args) {
  for_each_bits<typename Draw::Bits>(args, [&](int64_t i, typename Draw::Bits bits) {
    int64_t offsets[1];
    args.offsets.find(i, offsets);
    *reinterpret_cast<T*>(args.out + offsets[0]) = static_cast<T>(draw(bits));
  });
}

/// P is the type of the probabilities; numbers are drawn and compared in it.
template <class T, class P>
__global__ void __launch_bounds__(kBlock)
    bernoulli_kernel(const __grid_constant__ RandomArgs args) {
  using Bits = typename DrawTypes<P>::Bits;
  for_each_bits<Bits>(args, [&](int64_t i, Bits bits) {
    int64_t offsets[2];
    args.offsets.find(i, offsets);
    const P p = *reinterpret_cast<const P*>(args.probabilities + offsets[1]);
    if (!(p >= 0 && p <= 1)) report(args.faults, Fault::kBadProbability);
    *reinterpret_cast<T*>(args.out + offsets[0]) = static_cast<T>(unit(bits) < p);
  });
}

template <class T, class Draw>
void draw(const RandomParams& params, const Draw& draw, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  draw_kernel<T><<<grid_for(params.out.numel, stream), kBlock, 0, stream.stream>>>(
      draw, random_args(params, ctx));
}

template <class T>
void draw_integers(const RandomParams& params, uint64_t from, uint64_t range, bool is_wide,
                   Ctx& ctx) {
  if (is_wide)
    draw<T>(params, IntegerDraw<T, Bits64>{from, range}, ctx);
  else
    draw<T>(params, IntegerDraw<T, Bits32>{from, range}, ctx);
}

template <class T>
void draw_between(const RandomParams& params, Ctx& ctx) {
  const uint64_t from = static_cast<uint64_t>(params.from),
                 range = static_cast<uint64_t>(params.to) - from;
  draw_integers<T>(params, from, range, range == 0 || range >= IntegerDraw<T, Bits64>::kWideRange,
                   ctx);
}

template <class T>
void draw_bernoulli(const RandomParams& params, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  const unsigned grid = grid_for(params.out.numel, stream);
  const RandomArgs args = random_args(params, ctx);
  if (params.probabilities.dtype == kDouble)
    bernoulli_kernel<T, double><<<grid, kBlock, 0, stream.stream>>>(args);
  else
    bernoulli_kernel<T, float><<<grid, kBlock, 0, stream.stream>>>(args);
}

template <class T>
void run_typed(const RandomParams& params, Ctx& ctx) {
  switch (params.kind) {
    case RandomParams::Kind::kRandomInt: return draw_between<T>(params, ctx);
    case RandomParams::Kind::kRandom:
      return draw_integers<T>(params, 0, full_range<T>(), sizeof(T) == 8, ctx);
    case RandomParams::Kind::kBernoulli:
      return draw<T>(params, BernoulliDraw<Bits32>(params.a), ctx);
    case RandomParams::Kind::kBernoulliTensor: return draw_bernoulli<T>(params, ctx);
    default: break;
  }
  if constexpr (is_floating_point(dtype_of<T>)) {
    switch (params.kind) {
      case RandomParams::Kind::kUniform:
        return draw<T>(params, UniformDraw<T>(params.a, params.b), ctx);
      case RandomParams::Kind::kNormal:
        return draw<T>(params, NormalDraw<T>(params.a, params.b), ctx);
      case RandomParams::Kind::kExponential:
        return draw<T>(params, ExponentialDraw<T>(params.a), ctx);
      default: break;
    }
  }
  detail::fail<Error>("this random function is not implemented for '", name_of(params.out.dtype),
                      "'");
}

}  // namespace

void run(const RandomParams& params, Ctx& ctx) {
  if (params.out.numel == 0) return;
  if (params.kind == RandomParams::Kind::kRandPerm) return random_permutation(params, ctx);
  switch (params.out.dtype) {
#define HEARTH_RANDOM(T, Name)                                      \
  case ScalarType::Name:                                            \
    if constexpr (!kIsComplex<T>) return run_typed<T>(params, ctx); \
    break;
    HEARTH_CUDA_DTYPES(HEARTH_RANDOM)
#undef HEARTH_RANDOM
    default: break;
  }
  detail::fail<Error>("random numbers are not implemented for '", name_of(params.out.dtype), "'");
}

}  // namespace hearth::cuda
