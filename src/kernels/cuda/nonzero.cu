// The number and the coordinates of non-zero elements. Each block has a tile of 2048 elements, 256
// at a time; the coordinates take three kernels, for the counts of tiles, their prefix sums in one
// block, and the writes. Bound by reading the input, once for the number and twice for the
// coordinates, by writing these, and by the one block, which adds 256 counts at a time.
#include "seam/nonzero.h"

#include <cub/block/block_scan.cuh>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"

namespace hearth::cuda {

namespace {

constexpr int kRounds = 8;
constexpr int64_t kTile = int64_t{kBlock} * kRounds;  // elements that one block processes
using BlockScan = cub::BlockScan<int64_t, kBlock>;

/// The elements of a tensor in row-major order.
struct Elements {
  const char* data;
  ScalarType dtype;
  int64_t numel;
  Offsets<1> offsets;

  explicit Elements(const View& in) : data(in.as<const char>()), dtype(in.dtype), numel(in.numel) {
    Loop loop(in.dim, in.sizes);
    loop.add(in);
    loop.merge();
    offsets = Offsets<1>(loop);
  }
  int64_t tiles() const { return (numel + kTile - 1) / kTile; }
  __device__ bool is_nonzero(int64_t i) const {
    if (i >= numel) return false;
    int64_t offset[1];
    offsets.find(i, offset);
    return load_as<bool>(data + offset[0], dtype);
  }
};

/// Counts the non-zero elements of every tile and of the tensor; either output may be null.
__global__ void __launch_bounds__(kBlock)
    count_kernel(const __grid_constant__ Elements in, int64_t* tile_counts, int64_t* total) {
  int64_t count = 0;
  for (int round = 0; round < kRounds; ++round)
    count += __syncthreads_count(in.is_nonzero(blockIdx.x * kTile + round * kBlock + threadIdx.x));
  if (threadIdx.x != 0) return;
  if (tile_counts != nullptr) tile_counts[blockIdx.x] = count;
  if (total != nullptr && count != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(count));
}

/// Replaces the tiles' counts by their exclusive prefix sums; runs as one block.
__global__ void __launch_bounds__(kBlock) scan_kernel(int64_t* tile_counts, int64_t tiles) {
  __shared__ typename BlockScan::TempStorage shared;
  int64_t num_before = 0;
  for (int64_t start = 0; start < tiles; start += kBlock) {
    const int64_t tile = start + threadIdx.x;
    int64_t count = tile < tiles ? tile_counts[tile] : 0, sum = 0;
    BlockScan(shared).ExclusiveSum(count, count, sum);
    if (tile < tiles) tile_counts[tile] = num_before + count;
    num_before += sum;
    __syncthreads();
  }
}

/// The output: rows of coordinates.
struct Rows {
  int64_t* data;
  int64_t num_rows, row_stride, column_stride;
  int dim;
  FastDivisor sizes[kMaxDims];

  Rows(const View& out, const View& in)
      : data(out.as<int64_t>()),
        num_rows(out.sizes[0]),
        row_stride(out.strides[0]),
        column_stride(out.strides[1]),
        dim(in.dim) {
    for (int d = 0; d < dim; ++d) sizes[d] = FastDivisor(in.sizes[d]);
  }
  __device__ void write(int64_t row, int64_t position) const {
    if (row >= num_rows) return;
    for (int d = dim - 1; d >= 0; --d) {
      int64_t coordinate;
      position = sizes[d].divide(position, coordinate);
      data[row * row_stride + d * column_stride] = coordinate;
    }
  }
};

/// Each block writes the coordinates of its tile's non-zero elements.
__global__ void __launch_bounds__(kBlock)
    fill_kernel(const __grid_constant__ Elements in, const int64_t* counts_before,
                const __grid_constant__ Rows rows) {
  __shared__ typename BlockScan::TempStorage shared;
  int64_t num_before = counts_before[blockIdx.x];
  for (int round = 0; round < kRounds; ++round) {
    const int64_t position = blockIdx.x * kTile + round * kBlock + threadIdx.x;
    const bool found = in.is_nonzero(position);
    int64_t rank = found ? 1 : 0, sum = 0;
    BlockScan(shared).ExclusiveSum(rank, rank, sum);
    if (found) rows.write(num_before + rank, position);
    num_before += sum;
    __syncthreads();
  }
}

}  // namespace

void run(const NonzeroCountParams& params, Ctx& ctx) {
  const cudaStream_t stream = stream_of(ctx).stream;
  HEARTH_CUDA(cudaMemsetAsync(params.count.data, 0, sizeof(int64_t), stream));
  if (params.in.numel == 0) return;
  const Elements in(params.in);
  count_kernel<<<static_cast<unsigned>(in.tiles()), kBlock, 0, stream>>>(
      in, nullptr, params.count.as<int64_t>());
}

void run(const NonzeroFillParams& params, Ctx& ctx) {
  if (params.out.numel == 0 || params.in.numel == 0) return;
  const cudaStream_t stream = stream_of(ctx).stream;
  const Elements in(params.in);
  const unsigned tiles = static_cast<unsigned>(in.tiles());
  auto* counts = static_cast<int64_t*>(ctx.scratch(sizeof(int64_t) * tiles));
  count_kernel<<<tiles, kBlock, 0, stream>>>(in, counts, nullptr);
  scan_kernel<<<1, kBlock, 0, stream>>>(counts, tiles);
  fill_kernel<<<tiles, kBlock, 0, stream>>>(in, counts, Rows(params.out, params.in));
}

}  // namespace hearth::cuda
