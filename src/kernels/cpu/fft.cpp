// Fourier transforms of all lines along a dimension. The threads divide groups of lines, one line
// for each lane of a vector; few lines that are not short, and lines whose buffers exceed 256 KiB,
// are transformed one by one by all threads. The numbers stay in buffers in the cache for about 5 *
// log2(n) operations each, which bound the speed; short lines are bound by memory.
#include "seam/fft.h"

#include <algorithm>

#include "kernels/cpu/fft_lines.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kGrain = 8192;         // numbers that are worth another thread
constexpr int64_t kMaxBuffer = 1 << 18;  // bytes of a buffer; longer lines become matrices

/// The input or output of the transform, and the positions of a line's numbers.
template <class T>
struct Side {
  T* data;
  int64_t unit;        // numbers of type T per element
  int64_t step, pair;  // as in FftLines

  /// If `pairs`, two neighbours of a real line form a pair; else a real number has no second part.
  Side(const View& view, int dim, bool pairs) : data(view.as<T>()) {
    unit = is_complex(view.dtype) ? 2 : 1;
    const int64_t stride = view.sizes[dim] > 1 ? view.strides[dim] : 1;
    step = (unit == 2 || pairs ? 2 : 1) * stride;
    pair = unit == 2 ? 1 : pairs ? stride : FftLines<T>::kNone;
  }
};

/// The loop over all lines, the nearest ones in memory innermost.
StridedLoop<2> lines_of(const FftParams& params) {
  int order[kMaxDims], count = 0;
  for (int d = 0; d < params.in.dim; ++d)
    if (d != params.dim) order[count++] = d;
  std::stable_sort(order, order + count, [&params](int a, int b) {
    return params.out.strides[a] > params.out.strides[b];
  });
  StridedLoop<2> loop;
  loop.operands = 2;
  loop.dim = count;
  for (int i = 0; i < count; ++i) {
    loop.sizes[i] = params.in.sizes[order[i]];
    loop.strides[0][i] = params.in.strides[order[i]];
    loop.strides[1][i] = params.out.strides[order[i]];
  }
  loop.merge();
  return loop;
}

template <class T>
FftJob<T> job_of(const FftParams& params) {
  FftJob<T> job;
  const bool to_real = params.kind == FftKind::kComplexToReal;
  const T scale = T(params.scale);
  job.n = to_real ? params.out.sizes[params.dim] : params.in.sizes[params.dim];
  job.from_half = to_real && !params.full;
  job.to_half = params.kind == FftKind::kRealToComplex;
  job.mirror = job.to_half && params.full;
  job.by_pairs = (job.from_half || job.to_half) && job.n % 2 == 0;
  job.length = job.by_pairs ? job.n / 2 : job.n;
  if (!params.full) job.weight = T(params.weight);
  // A backward transform is a forward one with the real and imaginary parts exchanged before and
  // after it. For real input, the backward transform is the conjugate of the forward one.
  // FftJob::prepare exchanges the parts itself.
  const T sign = params.forward ? T(1) : T(-1);
  if (job.to_half) {
    job.write = {false, scale, sign * scale};
  } else {
    job.write = {job.from_half || !params.forward, scale, scale};
    job.read = job.from_half ? FftPairs<T>{false, 1, -sign} : FftPairs<T>{!params.forward, 1, 1};
  }
  if (job.from_half || job.to_half) job.real = fft_plan<T>(job.n, FftMethod::kRealTwiddles);
  return job;
}

/// Finds the lines [first, first + count) of the loop.
template <class T>
void find_lines(const StridedLoop<2>& loop, int64_t first, int count, int lanes,
                const Side<T> (&sides)[2], FftLines<T> (&lines)[2]) {
  for (int s = 0; s < 2; ++s)
    lines[s] = fft_lines(sides[s].data, 0, count, lanes, sides[s].step, sides[s].pair);
  int l = 0;
  loop.walk(first, first + count, [&](const int64_t* offsets, int64_t run) {
    for (int64_t i = 0; i < run; ++i, ++l)
      for (int s = 0; s < 2; ++s)
        lines[s].offsets[l] = sides[s].unit * (offsets[s] + i * loop.inner_stride(s));
  });
  for (FftLines<T>& side : lines) {
    for (int i = count; i < lanes; ++i) side.offsets[i] = side.offsets[0];
    if (count < lanes || lanes == 1) continue;
    side.apart = side.offsets[1] - side.offsets[0];
    for (int i = 2; i < lanes; ++i)
      if (side.offsets[i] - side.offsets[i - 1] != side.apart) side.apart = 0;
  }
}

/// Whether lines are transformed one after another; does not depend on the number of threads.
template <class T>
bool runs_one_by_one(const FftJob<T>& job, int64_t lines, int lanes) {
  const bool by_stages = fft_method(job.length) == FftMethod::kStages;
  const int64_t length = by_stages ? job.length : fft_convolution_size(job.length);
  if (fft_grid_rows(length) == 0) return false;
  return lines < lanes || 2 * lanes * length * int64_t(sizeof(T)) > kMaxBuffer;
}

template <class T>
void run_groups(const FftJob<T>& job, const StridedLoop<2>& loop, const Side<T> (&sides)[2],
                Ctx& ctx) {
  const FftLoops<T>& loops = fft_loops<T>();
  const int64_t lines = loop.numel(), groups = (lines + loops.lanes - 1) / loops.lanes;
  const int slots = std::min(task_slots(groups), task_slots(lines * job.n / kGrain));
  const int64_t buffer = 2 * loops.lanes * job.capacity();
  T* const buffers = static_cast<T*>(ctx.scratch(size_t(2 * buffer * slots) * sizeof(T)));
  parallel_tasks(slots, slots, [&](int64_t range, int slot) {
    T* const a = buffers + 2 * buffer * slot;
    for (int64_t g = groups * range / slots; g < groups * (range + 1) / slots; ++g) {
      const int64_t first = g * loops.lanes;
      FftLines<T> found[2];
      find_lines(loop, first, int(std::min<int64_t>(loops.lanes, lines - first)), loops.lanes,
                 sides, found);
      job.run(loops, found[0], found[1], a, a + buffer);
    }
  });
}

template <class T>
void run_long(const FftJob<T>& job, const StridedLoop<2>& loop, const Side<T> (&sides)[2],
              Ctx& ctx) {
  const FftLongLine<T> line(job, ctx);
  for (int64_t i = 0; i < loop.numel(); ++i) {
    FftLines<T> found[2];
    find_lines(loop, i, 1, 1, sides, found);
    line.run(found[0], found[1]);
  }
}

template <class T>
void transform(const FftParams& params, Ctx& ctx) {
  FftJob<T> job = job_of<T>(params);
  const StridedLoop<2> loop = lines_of(params);
  const bool one_by_one = runs_one_by_one(job, loop.numel(), fft_loops<T>().lanes);
  const FftMethod method = fft_method(job.length);
  job.plan = fft_plan<T>(job.length,
                         one_by_one && method == FftMethod::kStages ? FftMethod::kGrid : method);
  const Side<T> sides[2] = {{params.in, params.dim, job.by_pairs},
                            {params.out, params.dim, job.by_pairs}};
  one_by_one ? run_long(job, loop, sides, ctx) : run_groups(job, loop, sides, ctx);
}

}  // namespace

void run(const FftParams& params, Ctx& ctx) {
  if (params.in.numel == 0) return;
  by_name::to_real(params.in.dtype) == kDouble ? transform<double>(params, ctx)
                                               : transform<float>(params, ctx);
}

}  // namespace hearth::cpu
