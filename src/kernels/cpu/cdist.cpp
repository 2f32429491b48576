// The distances of all rows of a, [rows, width], from all rows of b or from the later rows of a,
// and the gradient of a. The threads divide the rows of a. all_pairs() takes b in tiles of 32 KiB,
// at least 16 rows, which stay in the cache for a thread's rows. Bound by the arithmetic of each
// difference, in the loops of cdist_loops.h.
#include "seam/cdist.h"

#include <algorithm>
#include <cmath>

#include "core/parallel_for.h"
#include "kernels/cpu/cdist_kernels.h"
#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/strided.h"

namespace hearth::cpu {

namespace {

constexpr int64_t kCdistGrain = 1 << 14;    // differences of elements that are worth another thread
constexpr int64_t kRowTileBytes = 1 << 15;  // of a tile of rows of b, which stays in the cache

template <class T>
const CdistLoops& cdist_loops_of() {
  return loops_for<T>(HEARTH_ISA_TABLE(cdist_table));
}

/// Turns the sums of a norm that has a root into distances.
template <class T>
void take_roots(Norm norm, double p, T* sums, int64_t n) {
  if (norm == Norm::kTwo)
    for (int64_t j = 0; j < n; ++j) sums[j] = std::sqrt(sums[j]);
  if (norm == Norm::kOther)
    for (int64_t j = 0; j < n; ++j) sums[j] = std::pow(sums[j], T(1 / p));
}

/// Calls f(n, begin, end) in parallel, for groups of rows [begin, end) of matrix n of a.
template <class F>
void for_row_groups(int64_t batches, int64_t rows, int64_t work_per_row, const F& f) {
  const int64_t grain = std::max<int64_t>(kCdistGrain / std::max<int64_t>(work_per_row, 1), 1);
  parallel_for(0, batches * rows, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t n = begin / rows, stop = std::min(end, (n + 1) * rows);
      f(n, begin - n * rows, stop - n * rows);
      begin = stop;
    }
  });
}

/// Computes the distances of all rows of a, `[rows, width]`, from all rows of b,
/// `[columns, width]`, one tile of b at a time.
template <class T>
void all_pairs(const CdistParams& params) {
  const Norm norm = norm_of(params.p);
  const int64_t rows = params.a.sizes[1], columns = params.b.sizes[1], width = params.a.sizes[2];
  const auto distances = cdist_loops_of<T>().distances[int(norm)];
  const int64_t tile =
      std::max<int64_t>(kRowTileBytes / (std::max<int64_t>(width, 1) * int64_t(sizeof(T))), 16);
  for_row_groups(params.a.sizes[0], rows, columns * width, [&](int64_t n, int64_t r0, int64_t r1) {
    const T* const a = params.a.as<const T>() + n * rows * width;
    const T* const b = params.b.as<const T>() + n * columns * width;
    T* const out = params.out.as<T>() + n * rows * columns;
    for (int64_t j = 0; j < columns; j += tile) {
      const int64_t count = std::min(tile, columns - j);
      for (int64_t i = r0; i < r1; ++i) {
        T* const line = out + i * columns + j;
        distances(a + i * width, b + j * width, count, width, params.p, line);
        take_roots(norm, params.p, line, count);
      }
    }
  });
}

/// Computes the distances of all pairs of rows i < j of a.
template <class T>
void upper_pairs(const CdistParams& params) {
  const Norm norm = norm_of(params.p);
  const int64_t rows = params.a.sizes[1], width = params.a.sizes[2];
  const T* const a = params.a.as<const T>();
  for_row_groups(1, rows, rows / 2 * width, [&](int64_t, int64_t r0, int64_t r1) {
    for (int64_t i = r0; i < r1; ++i) {
      const int64_t count = rows - i - 1;
      T* const line = params.out.as<T>() + i * (2 * rows - i - 1) / 2;
      cdist_loops_of<T>().distances[int(norm)](a + i * width, a + (i + 1) * width, count, width,
                                               params.p, line);
      take_roots(norm, params.p, line, count);
    }
  });
}

/// The factors `grad / dist^(p - 1)` (kInfinity: `grad`) in the gradient of one row of a.
template <class T>
class RowFactors {
 public:
  static constexpr int64_t kCapacity = 256;  // rows of b

  RowFactors(const CdistBackwardParams& params, Norm norm, int64_t n, int64_t i)
      : p_(params.p), norm_(norm), grad_(line(params.grad, n, i)), dist_(line(params.dist, n, i)) {
    grad_stride_ = params.grad.strides[2];
    dist_stride_ = params.dist.strides[2];
  }
  void read(int64_t first, int64_t count) {
    for (int64_t k = 0; k < count; ++k) {
      const T dist = dist_[(first + k) * dist_stride_];
      dists[k] = dist;
      factors[k] = dist == 0 ? T(0) : factor(grad_[(first + k) * grad_stride_], dist);
    }
  }

  T factors[kCapacity], dists[kCapacity];

 private:
  static const T* line(const View& view, int64_t n, int64_t i) {
    return view.as<const T>() + n * view.strides[0] + i * view.strides[1];
  }
  T factor(T grad, T dist) const {
    if (norm_ == Norm::kTwo) return grad / dist;
    return norm_ == Norm::kOther ? grad / std::pow(dist, T(p_ - 1)) : grad;
  }

  const double p_;
  const Norm norm_;
  const T *grad_, *dist_;
  int64_t grad_stride_, dist_stride_;
};

/// Computes the gradient of row i of a; `part` is scratch memory for a row.
template <class T>
void row_backward(const CdistBackwardParams& params, Norm norm, int64_t n, int64_t i, T* part) {
  const int64_t rows = params.a.sizes[1], columns = params.b.sizes[1], width = params.a.sizes[2];
  const T* const a = params.a.as<const T>() + (n * rows + i) * width;
  const T* const b = params.b.as<const T>() + n * columns * width;
  T* const out = params.grad_a.as<T>() + (n * rows + i) * width;
  std::fill_n(out, width, T(0));
  if (norm == Norm::kZero) return;
  RowFactors<T> row(params, norm, n, i);
  for (int64_t j = 0; j < columns; j += row.kCapacity) {
    const int64_t count = std::min(row.kCapacity, columns - j);
    row.read(j, count);
    cdist_loops_of<T>().gradient[int(norm)](a, b + j * width, count, width, params.p, row.factors,
                                            row.dists, part);
    for (int64_t m = 0; m < width; ++m) out[m] += part[m];
  }
}

template <class T>
void backward(const CdistBackwardParams& params, Ctx& ctx) {
  const Norm norm = norm_of(params.p);
  const int64_t rows = params.a.sizes[0] * params.a.sizes[1], width = params.a.sizes[2];
  const int64_t work = std::max<int64_t>(params.b.sizes[1] * width, 1);
  const int64_t ranges = task_slots((rows * work + kCdistGrain - 1) / kCdistGrain);
  T* const parts = static_cast<T*>(ctx.scratch(size_t(ranges * width) * sizeof(T)));
  parallel_tasks(ranges, int(ranges), [&](int64_t range, int slot) {
    for (int64_t r = rows * range / ranges; r < rows * (range + 1) / ranges; ++r)
      row_backward<T>(params, norm, r / params.a.sizes[1], r % params.a.sizes[1],
                      parts + slot * width);
  });
}

}  // namespace

void run(const CdistParams& params, Ctx&) {
  const bool is_double = params.a.dtype == kDouble;
  if (params.upper) return is_double ? upper_pairs<double>(params) : upper_pairs<float>(params);
  is_double ? all_pairs<double>(params) : all_pairs<float>(params);
}

void run(const CdistBackwardParams& params, Ctx& ctx) {
  params.a.dtype == kDouble ? backward<double>(params, ctx) : backward<float>(params, ctx);
}

}  // namespace hearth::cpu
