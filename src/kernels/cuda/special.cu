// Special functions of one or two arguments. Each thread has one element at a time and computes in
// double. Bound by arithmetic: series and polynomials, whose lengths differ among the threads of a
// warp.
#include "seam/special.h"

#include "functors/special_value.h"
#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

/// An input: an address or, if that is null, a number.
struct SpecialInput {
  const char* data;
  ScalarType dtype;
  double number;
};

struct SpecialArgs {
  int64_t numel;
  fn::Special function;
  ScalarType compute, out_dtype;
  char* out;
  SpecialInput in[2];
  Offsets<3> offsets;  // the output's first
};

/// Returns x rounded to this dtype.
__device__ double rounded(double x, ScalarType dtype) {
  return dtype == ScalarType::Double ? x : round_to(static_cast<float>(x), dtype);
}

__device__ double read(const SpecialInput& in, int64_t offset, ScalarType compute) {
  if (in.data == nullptr) return in.number;
  return rounded(load_as<double>(in.data + offset, in.dtype), compute);
}

__global__ void __launch_bounds__(kBlock) special_kernel(const __grid_constant__ SpecialArgs args) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < args.numel; i += step) {
    int64_t offsets[3];
    args.offsets.find(i, offsets);
    const double a = read(args.in[0], offsets[1], args.compute);
    const double b = read(args.in[1], offsets[2], args.compute);
    const double result = fn::special_value(args.function, a, b);
    store_as(args.out + offsets[0], args.out_dtype, rounded(result, args.compute));
  }
}

/// Reads a number on the host; it has been rounded already if the function computes in a half type.
double number_of(const Operand& in, ScalarType compute) {
  const double number = load_as<double>(in.number, in.dtype);
  return compute == kDouble ? number : static_cast<float>(number);
}

}  // namespace

void run(const SpecialParams& params, Ctx& ctx) {
  const PointwiseParams& p = params.loop;
  static constexpr int64_t kNone[kMaxDims] = {};
  Loop loop(p.dim, p.sizes);
  loop.add(p.out.strides, element_size(p.out.dtype));
  SpecialArgs args{};
  for (int k = 0; k < 2; ++k) {
    const bool moves = k < p.inputs && !p.in[k].is_number;
    if (moves) args.in[k] = {static_cast<const char*>(p.in[k].data), p.in[k].dtype, 0};
    if (k < p.inputs && !moves) args.in[k].number = number_of(p.in[k], p.compute);
    loop.add(moves ? p.in[k].strides : kNone, moves ? element_size(p.in[k].dtype) : 0);
  }
  args.numel = p.numel;
  args.function = params.function;
  args.compute = p.compute;
  args.out_dtype = p.out.dtype;
  args.out = static_cast<char*>(p.out.data);
  args.offsets = Offsets<3>(loop);
  const NativeStream& stream = stream_of(ctx);
  special_kernel<<<grid_for(args.numel, stream), kBlock, 0, stream.stream>>>(args);
}

}  // namespace hearth::cuda
