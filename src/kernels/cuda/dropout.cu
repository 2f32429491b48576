// Dropout with Philox numbers. Each thread computes one Philox block at a time, which yields four
// elements, adjacent in row-major order. Bound by memory traffic: the input is read, the output and
// one byte of the mask per element are written. The ten rounds of a Philox block are shared by its
// four elements.
#include "seam/dropout.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"
#include "kernels/draws.h"

namespace hearth::cuda {

namespace {

struct DropoutArgs {
  RandomSource source;
  int64_t numel;
  const char* in;
  char* out;
  bool* mask;
  double scale;        // 1 / (1 - p), or 0 if p is 1
  Offsets<3> offsets;  // in, out, mask
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    dropout_kernel(const __grid_constant__ BernoulliDraw<Bits32> draw,
                   const __grid_constant__ DropoutArgs args) {
  using C = Register<T>;
  constexpr int kLanes = kPhiloxLanes<Bits32>;
  const C scale = static_cast<C>(args.scale);
  const PhiloxKey key = philox_key(args.source);
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t b = int64_t{blockIdx.x} * kBlock + threadIdx.x; b * kLanes < args.numel; b += step) {
    const PhiloxBlock block = philox(key.seed, static_cast<uint64_t>(b), key.offset);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      const int64_t i = b * kLanes + lane;
      if (i >= args.numel) break;
      int64_t offsets[3];
      args.offsets.find(i, offsets);
      const bool is_kept = draw(philox_lane<Bits32>(block, lane));
      const C value = to_register(*reinterpret_cast<const T*>(args.in + offsets[0]));
      *reinterpret_cast<T*>(args.out + offsets[1]) =
          to_element<T>(value * (is_kept ? C(1) : C(0)) * scale);
      args.mask[offsets[2]] = is_kept;
    }
  }
}

}  // namespace

void run(const DropoutParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  Loop loop(params.in.dim, params.in.sizes);
  loop.add(params.in);
  loop.add(params.out);
  loop.add(params.mask);
  loop.merge();
  const DropoutArgs args{
      params.source,         params.in.numel,        params.in.as<const char>(),
      params.out.as<char>(), params.mask.as<bool>(), params.p == 1 ? 0 : 1 / (1 - params.p),
      Offsets<3>(loop)};
  const BernoulliDraw<Bits32> draw(1 - params.p);
  const NativeStream& stream = stream_of(ctx);
  const unsigned grid = grid_for(args.numel, stream);
  switch (params.in.dtype) {
    case kFloat: dropout_kernel<float><<<grid, kBlock, 0, stream.stream>>>(draw, args); break;
    case kDouble: dropout_kernel<double><<<grid, kBlock, 0, stream.stream>>>(draw, args); break;
    case kHalf: dropout_kernel<Half><<<grid, kBlock, 0, stream.stream>>>(draw, args); break;
    case kBFloat16: dropout_kernel<BFloat16><<<grid, kBlock, 0, stream.stream>>>(draw, args); break;
    default:
      detail::fail<Error>("\"dropout\" not implemented for '", name_of(params.in.dtype), "'");
  }
}

}  // namespace hearth::cuda
