// tril and triu. Each thread copies one element at a time, or sets it to 0. Bound by memory
// traffic: the elements that are kept are read, and all are written.
#include "seam/triangle.h"

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

struct TriangleArgs {
  int64_t numel, diagonal;
  bool upper;
  const char* in;
  char* out;
  FastDivisor rows, columns;
  Offsets<2> offsets;  // in, out
};

template <class Bits>
__global__ void __launch_bounds__(kBlock)
    triangle_kernel(const __grid_constant__ TriangleArgs args) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t column, row, offsets[2];
    args.rows.divide(args.columns.divide(i, column), row);
    args.offsets.find(i, offsets);
    const bool kept = args.upper ? column - row >= args.diagonal : column - row <= args.diagonal;
    Bits* const out = reinterpret_cast<Bits*>(args.out + offsets[1]);
    *out = kept ? *reinterpret_cast<const Bits*>(args.in + offsets[0]) : Bits{};
  }
}

}  // namespace

void run(const TriangleParams& params, Ctx& ctx) {
  const View& out = params.out;
  if (out.numel == 0) return;
  Loop loop(out.dim, out.sizes);
  loop.add(params.in);
  loop.add(out);
  const TriangleArgs args{out.numel,
                          params.diagonal,
                          params.upper,
                          params.in.as<const char>(),
                          out.as<char>(),
                          FastDivisor(out.sizes[out.dim - 2]),
                          FastDivisor(out.sizes[out.dim - 1]),
                          Offsets<2>(loop)};
  const NativeStream& stream = stream_of(ctx);
  with_bits(element_size(out.dtype), [&](auto bits) {
    triangle_kernel<decltype(bits)>
        <<<grid_for(args.numel, stream), kBlock, 0, stream.stream>>>(args);
  });
}

}  // namespace hearth::cuda
