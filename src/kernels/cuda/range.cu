// arange and linspace. Each thread computes one element at a time from its number, in double or,
// for integers of arange, in int64. Bound by writing the elements; on GPUs with few units for
// doubles by the arithmetic.
#include "seam/range.h"

#include "kernels/cuda/convert.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

struct RangeArgs {
  char* out;
  ScalarType dtype;
  int64_t numel;
  double start, step, end;
  int64_t istart, istep;
  RangeParams::Kind kind;
  Offsets<1> offsets;
};

__global__ void __launch_bounds__(kBlock) range_kernel(const __grid_constant__ RangeArgs args) {
  const bool uses_integers =
      is_integral(args.dtype, true) && args.kind == RangeParams::Kind::kArange;
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[1];
    args.offsets.find(i, offsets);
    void* to = args.out + offsets[0];
    if (uses_integers)
      store_as<int64_t>(to, args.dtype, args.istart + i * args.istep);
    else if (args.kind == RangeParams::Kind::kLinspace && i >= args.numel / 2)
      store_as<double>(to, args.dtype,
                       args.end - static_cast<double>(args.numel - i - 1) * args.step);
    else
      store_as<double>(to, args.dtype, args.start + static_cast<double>(i) * args.step);
  }
}

}  // namespace

void run(const RangeParams& params, Ctx& ctx) {
  const View& out = params.out;
  if (out.numel == 0) return;
  Loop loop(out.dim, out.sizes);
  loop.add(out);
  loop.merge();
  const double steps = static_cast<double>(out.numel - 1);
  const bool is_linspace = params.kind == RangeParams::Kind::kLinspace && out.numel > 1;
  const double step = is_linspace ? (params.end - params.start) / steps : params.step;
  const double end = out.numel > 1 ? params.end : params.start;
  const RangeArgs args{out.as<char>(), out.dtype,    out.numel,   params.start,    step, end,
                       params.istart,  params.istep, params.kind, Offsets<1>(loop)};
  const NativeStream& stream = stream_of(ctx);
  range_kernel<<<grid_for(out.numel, stream), kBlock, 0, stream.stream>>>(args);
}

}  // namespace hearth::cuda
