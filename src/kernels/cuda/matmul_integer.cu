// Products of integer and bool matrices. Each block computes one 16 x 16 tile of a product, one
// element per thread, from tiles of both operands in shared memory. Bound by the two 8-byte loads
// from shared memory and the 64-bit multiply-add, which takes several instructions, of each term.
#include <algorithm>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

constexpr int kTileSide = 16;  // each block has a thread per element of its square tile

struct MatrixArgs {
  const char* data;
  int64_t batch, row, column;  // strides in elements
};

struct IntegerArgs {
  MatrixArgs a, b, c, out;
  int64_t batch, m, n, k;
  int64_t alpha, beta;  // beta is 0 without c
};

template <class T>
__device__ __forceinline__ T* element(const MatrixArgs& matrix, int64_t batch, int64_t row,
                                      int64_t column) {
  T* data = reinterpret_cast<T*>(const_cast<char*>(matrix.data));
  return data + batch * matrix.batch + row * matrix.row + column * matrix.column;
}

/// Sums wrap around, so uint64 arithmetic gives the low bits of every type.
template <class T>
__global__ void integer_matmul_kernel(const __grid_constant__ IntegerArgs args) {
  __shared__ uint64_t a_tile[kTileSide][kTileSide], b_tile[kTileSide][kTileSide];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int64_t tiles_per_row = (args.n + kTileSide - 1) / kTileSide;
  const int64_t row = blockIdx.x / tiles_per_row * kTileSide + y,
                column = blockIdx.x % tiles_per_row * kTileSide + x;
  for (int64_t batch = blockIdx.y; batch < args.batch; batch += gridDim.y) {
    uint64_t sum = 0;
    for (int64_t start = 0; start < args.k; start += kTileSide) {
      const bool has_a = row < args.m && start + x < args.k,
                 has_b = start + y < args.k && column < args.n;
      a_tile[y][x] =
          has_a ? static_cast<uint64_t>(*element<const T>(args.a, batch, row, start + x)) : 0;
      b_tile[y][x] =
          has_b ? static_cast<uint64_t>(*element<const T>(args.b, batch, start + y, column)) : 0;
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kTileSide; ++i) sum += a_tile[y][i] * b_tile[i][x];
      __syncthreads();
    }
    if (row >= args.m || column >= args.n) continue;
    sum *= static_cast<uint64_t>(args.alpha);
    if (args.beta != 0)
      sum += static_cast<uint64_t>(args.beta) *
             static_cast<uint64_t>(*element<const T>(args.c, batch, row, column));
    *element<T>(args.out, batch, row, column) = static_cast<T>(sum);
  }
}

MatrixArgs matrix_args(const View& view) {
  const bool batched = view.dim == 3;
  return {view.as<const char>(), batched ? view.strides[0] : 0, view.strides[view.dim - 2],
          view.strides[view.dim - 1]};
}

template <class T>
void launch_integer(const IntegerArgs& args, cudaStream_t stream) {
  constexpr int64_t kMaxGridY = 65535;
  const int64_t tiles =
      ((args.m + kTileSide - 1) / kTileSide) * ((args.n + kTileSide - 1) / kTileSide);
  const dim3 grid(static_cast<unsigned>(tiles),
                  static_cast<unsigned>(std::min(args.batch, kMaxGridY)));
  integer_matmul_kernel<T><<<grid, dim3(kTileSide, kTileSide), 0, stream>>>(args);
}

}  // namespace

void integer_matmul(const MatmulParams& params, bool add_c, Ctx& ctx) {
  const View& out = params.out;
  IntegerArgs args{};
  args.a = matrix_args(params.a);
  args.b = matrix_args(params.b);
  args.out = matrix_args(out);
  if (add_c) args.c = matrix_args(params.c);
  args.m = out.sizes[out.dim - 2];
  args.n = out.sizes[out.dim - 1];
  args.k = params.a.sizes[params.a.dim - 1];
  args.alpha = static_cast<int64_t>(params.alpha);
  args.beta = add_c ? static_cast<int64_t>(params.beta) : 0;
  args.batch = out.dim == 3 ? out.sizes[0] : 1;
  switch (out.dtype) {
    case kByte: return launch_integer<uint8_t>(args, stream_of(ctx).stream);
    case kChar: return launch_integer<int8_t>(args, stream_of(ctx).stream);
    case kShort: return launch_integer<int16_t>(args, stream_of(ctx).stream);
    case kInt: return launch_integer<int32_t>(args, stream_of(ctx).stream);
    case kLong: return launch_integer<int64_t>(args, stream_of(ctx).stream);
    case kBool:
      return launch_integer<bool>(args, stream_of(ctx).stream);  // true if the sum is not 0
    default: detail::fail<Error>("\"matmul\" not implemented for '", name_of(out.dtype), "'");
  }
}

}  // namespace hearth::cuda
