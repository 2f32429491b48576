// Scans along a dimension, each line of elements by itself. Each block scans one line at a time, in
// parts of 1024 elements, four adjacent ones per thread; short lines, and many lines side by side
// in memory, have one thread each. Bound by memory traffic, since each element is read and written
// once, or with few lines by the latency of a line's parts, each of which waits for the one before
// it.
#include "seam/scan.h"

#include <cstdlib>
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/convert.h"
#include "kernels/cuda/dtypes.h"
#include "kernels/cuda/lines.h"
#include "kernels/cuda/offsets.h"
#include "kernels/cuda/stream.h"
#include "kernels/scan_math.h"

namespace hearth::cuda {

namespace {

constexpr int kItems = 4;               // adjacent elements of one thread
constexpr int kShortLine = 8;           // length up to which a single thread scans a line
constexpr int kManyLines = 4 * kBlock;  // from this number on, adjacent lines have a thread each

/// The lines of a scan, in its direction. The operands are in, factor, out and indices.
struct ScanArgs {
  int64_t lines, length;  // of each line
  const char *in, *factor;
  char *out, *indices;  // factor and indices may be null
  Offsets<4> offsets;   // of the lines
  int64_t step[4];      // along a line, in bytes
};

template <class T, class A, class Op>
struct Line {
  const ScanArgs& args;
  int64_t offsets[4];

  __device__ Line(const ScanArgs& scan_args, int64_t line) : args(scan_args) {
    args.offsets.find(line, offsets);
  }
  __device__ typename Op::State element(int64_t i) const {
    const A x = to_register(*reinterpret_cast<const T*>(args.in + offsets[0] + i * args.step[0]));
    A factor{};
    if (args.factor != nullptr)
      factor =
          to_register(*reinterpret_cast<const T*>(args.factor + offsets[1] + i * args.step[1]));
    return Op::element(x, factor, i);
  }
  __device__ void store(int64_t i, const typename Op::State& state) const {
    *reinterpret_cast<T*>(args.out + offsets[2] + i * args.step[2]) =
        to_element<T>(Op::value(state));
    if (args.indices != nullptr)
      *reinterpret_cast<int64_t*>(args.indices + offsets[3] + i * args.step[3]) = Op::index(state);
  }
};

template <class T, class A, class Op>
__global__ void __launch_bounds__(kBlock) block_kernel(const __grid_constant__ ScanArgs args) {
  using State = typename Op::State;
  using BlockScan = cub::BlockScan<State, kBlock>;
  __shared__ typename BlockScan::TempStorage shared;
  const auto merge = [](const State& a, const State& b) { return Op::merge(a, b); };
  for (int64_t l = blockIdx.x; l < args.lines; l += gridDim.x) {
    const Line<T, A, Op> line(args, l);
    State prefix = Op::start();
    for (int64_t start = 0; start < args.length; start += kBlock * kItems) {
      const int64_t first = start + int64_t{threadIdx.x} * kItems;
      State states[kItems], total;
      for (int k = 0; k < kItems; ++k)
        states[k] = first + k < args.length ? line.element(first + k) : Op::start();
      BlockScan(shared).InclusiveScan(states, states, merge, total);
      for (int k = 0; k < kItems; ++k)
        if (first + k < args.length) line.store(first + k, Op::merge(prefix, states[k]));
      prefix = Op::merge(prefix, total);
      __syncthreads();
    }
  }
}

template <class T, class A, class Op>
__global__ void __launch_bounds__(kBlock) thread_kernel(const __grid_constant__ ScanArgs args) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t l = int64_t{blockIdx.x} * kBlock + threadIdx.x; l < args.lines; l += step) {
    const Line<T, A, Op> line(args, l);
    typename Op::State state = Op::start();
    for (int64_t i = 0; i < args.length; ++i) {
      state = Op::merge(state, line.element(i));
      line.store(i, state);
    }
  }
}

ScanArgs scan_args(const ScanParams& params) {
  const View& factor = params.factor.defined() ? params.factor : params.in;
  const View& indices = params.indices.defined() ? params.indices : params.out;
  const View views[] = {lines_along(params.in, params.dim), lines_along(factor, params.dim),
                        lines_along(params.out, params.dim), lines_along(indices, params.dim)};
  ScanArgs args;
  args.length = last_size(views[0]);
  Loop loop(views[0].dim - 1, views[0].sizes);
  char* starts[4];
  for (int o = 0; o < 4; ++o) {
    loop.add(views[o]);
    args.step[o] = last_step(views[o]);
    starts[o] = views[o].as<char>();
    if (!params.reverse) continue;
    starts[o] += (args.length - 1) * args.step[o];
    args.step[o] = -args.step[o];
  }
  loop.merge();
  args.lines = loop.numel();
  args.offsets = Offsets<4>(loop);
  args.in = starts[0];
  args.factor = params.factor.defined() ? starts[1] : nullptr;
  args.out = starts[2];
  args.indices = params.indices.defined() ? starts[3] : nullptr;
  return args;
}

template <class T, class Op>
void launch_scan(const ScanParams& params, Ctx& ctx) {
  const ScanArgs args = scan_args(params);
  const NativeStream& stream = stream_of(ctx);
  const bool side_by_side =
      std::abs(args.step[0]) != int64_t{sizeof(T)} && args.lines >= kManyLines;
  if (side_by_side || args.length <= kShortLine)
    thread_kernel<T, Register<T>, Op>
        <<<grid_for(args.lines, stream), kBlock, 0, stream.stream>>>(args);
  else
    block_kernel<T, Register<T>, Op>
        <<<grid_for(args.lines * kBlock, stream), kBlock, 0, stream.stream>>>(args);
}

template <class T>
void run_typed(const ScanParams& params, Ctx& ctx) {
  using A = Register<T>;
  switch (params.kind) {
    case ScanKind::kSum: return launch_scan<T, scan::Sum<A>>(params, ctx);
    case ScanKind::kProd: return launch_scan<T, scan::Prod<A>>(params, ctx);
    case ScanKind::kLinear: return launch_scan<T, scan::Linear<A>>(params, ctx);
    default: break;
  }
  if constexpr (!kIsComplex<T>) {
    if (params.kind == ScanKind::kMax) return launch_scan<T, scan::Extreme<A, true>>(params, ctx);
    if (params.kind == ScanKind::kMin) return launch_scan<T, scan::Extreme<A, false>>(params, ctx);
    if constexpr (!std::is_integral_v<T>) launch_scan<T, scan::LogSumExp<A>>(params, ctx);
  }
}

}  // namespace

void run(const ScanParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  switch (params.in.dtype) {
#define HEARTH_SCAN(T, Name) \
  case ScalarType::Name: return run_typed<T>(params, ctx);
    HEARTH_CUDA_DTYPES(HEARTH_SCAN)
#undef HEARTH_SCAN
    default: break;
  }
}

}  // namespace hearth::cuda
