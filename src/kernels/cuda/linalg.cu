// Row swaps by pivots and solutions by L D L^T, with one column per thread at a time; checks for
// inf and NaN and fills of the matrices found, with one element per thread; checks of diagonals and
// the numbers in `info`, with one matrix per thread. Kernels with an element per thread are bound
// by memory, the others by latency: a thread makes its swaps, its n^2 multiply-adds or its loads
// one after the other.
#include "seam/linalg.h"

#include "kernels/cuda/launch.h"
#include "kernels/cuda/linalg_kernels.h"

namespace hearth::cuda {

namespace {

/// Swaps elements i and j of a column.
template <class T>
__device__ void exchange(T* column, int64_t i, int64_t j) {
  const T value = column[i];
  column[i] = column[j];
  column[j] = value;
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    apply_pivots_kernel(T* a, const int* pivots, MatrixSizes sizes, int num_pivots, bool reversed) {
  const int64_t step = int64_t{gridDim.x} * kBlock, columns = sizes.count * sizes.columns;
  for (int64_t c = int64_t{blockIdx.x} * kBlock + threadIdx.x; c < columns; c += step) {
    const int* const of_matrix = pivots + c / sizes.columns * num_pivots;
    for (int k = 0; k < num_pivots; ++k) {
      const int i = reversed ? num_pivots - 1 - k : k;
      exchange(a + c * sizes.rows, i, of_matrix[i] - 1);
    }
  }
}

/// Solves L D L^T x = b for one column b, in place, by the results of LAPACK's sytrf.
template <class T>
struct LdlColumn {
  const T* a;
  const int* pivots;
  int n;
  T* b;

  __device__ T at(int row, int column) const { return a[int64_t{column} * n + row]; }
  __device__ bool is_pair(int k) const { return pivots[k] < 0; }
  /// The row with which the last row of the block at k was exchanged.
  __device__ int partner(int k) const { return is_pair(k) ? -pivots[k] - 1 : pivots[k] - 1; }

  __device__ void forward() const {
    for (int k = 0; k < n;) {
      const int last = k + is_pair(k);
      exchange(b, last, partner(k));
      for (int i = last + 1; i < n; ++i) {
        b[i] -= at(i, k) * b[k];
        if (last > k) b[i] -= at(i, last) * b[last];
      }
      solve_block(k);
      k = last + 1;
    }
  }
  __device__ void solve_block(int k) const {
    if (!is_pair(k)) {
      b[k] /= at(k, k);
      return;
    }
    // Like LAPACK, divides by the element off the diagonal first, so that nothing overflows.
    const T off = at(k + 1, k), p = at(k, k) / off, q = at(k + 1, k + 1) / off;
    const T x = b[k] / off, y = b[k + 1] / off, denominator = p * q - 1;
    b[k] = (q * x - y) / denominator;
    b[k + 1] = (p * y - x) / denominator;
  }
  __device__ void backward() const {
    for (int last = n - 1; last >= 0;) {
      const int k = is_pair(last) ? last - 1 : last;
      for (int i = last + 1; i < n; ++i) {
        b[last] -= at(i, last) * b[i];
        if (k < last) b[k] -= at(i, k) * b[i];
      }
      exchange(b, last, partner(last));
      last = k - 1;
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    ldl_solve_kernel(const T* a, const int* pivots, T* b, MatrixSizes sizes) {
  const int64_t step = int64_t{gridDim.x} * kBlock, columns = sizes.count * sizes.columns;
  for (int64_t c = int64_t{blockIdx.x} * kBlock + threadIdx.x; c < columns; c += step) {
    const int64_t matrix = c / sizes.columns, n = sizes.rows;
    const LdlColumn<T> column{a + matrix * n * n, pivots + matrix * n, sizes.rows, b + c * n};
    column.forward();
    column.backward();
  }
}

__device__ bool is_in(Part part, int64_t row, int64_t column) {
  switch (part) {
    case Part::kUpper: return row <= column;
    case Part::kLower: return row >= column;
    default: return true;
  }
}

/// The flags must be 0 before. NaN outranks infinity.
template <class T>
__global__ void __launch_bounds__(kBlock)
    find_not_finite_kernel(const T* a, MatrixSizes sizes, Part part, int* flags) {
  static_assert(kNan > kInfinite);
  const int64_t step = int64_t{gridDim.x} * kBlock, elements = int64_t{sizes.rows} * sizes.columns,
                count = sizes.count * elements;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < count; i += step) {
    const T value = a[i];
    if (value - value == T(0)) continue;
    const int64_t element = i % elements;
    if (is_in(part, element % sizes.rows, element / sizes.rows))
      atomicMax(flags + i / elements, value != value ? kNan : kInfinite);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    fill_flagged_kernel(T* data, int64_t elements, int64_t count, const int* flags, T value) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < count; i += step)
    if (flags[i / elements] != 0) data[i] = value;
}

__global__ void __launch_bounds__(kBlock)
    set_info_kernel(int* info, int64_t count, const int* flags, int on_nan) {
  const int64_t step = int64_t{gridDim.x} * kBlock;
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < count; i += step)
    if (flags[i] != 0) info[i] = flags[i] == kNan ? on_nan : 0;
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    check_diagonal_kernel(const T* a, MatrixSizes sizes, bool zero_counts, int* info) {
  const int64_t step = int64_t{gridDim.x} * kBlock, length = min(sizes.rows, sizes.columns),
                elements = int64_t{sizes.rows} * sizes.columns;
  for (int64_t m = int64_t{blockIdx.x} * kBlock + threadIdx.x; m < sizes.count; m += step)
    for (int64_t i = 0; i < length && info[m] == 0; ++i) {
      const T value = a[m * elements + i * (sizes.rows + 1)];
      if (value != value || (zero_counts && value == T(0))) info[m] = static_cast<int>(i + 1);
    }
}

}  // namespace

void run(const ApplyPivotsParams& p, Ctx& ctx) {
  const MatrixSizes sizes(p.a);
  if (p.a.numel == 0 || p.pivots.numel == 0) return;
  const NativeStream& stream = stream_of(ctx);
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    launch(apply_pivots_kernel<T>, grid_for(sizes.count * sizes.columns, stream), stream,
           p.a.as<T>(), p.pivots.as<const int>(), sizes, int(p.pivots.sizes[p.pivots.dim - 1]),
           p.reversed);
  });
}

void run(const LdlSolveParams& p, Ctx& ctx) {
  const MatrixSizes sizes(p.b);
  if (p.b.numel == 0) return;
  const NativeStream& stream = stream_of(ctx);
  with_real(p.b.dtype, [&](auto zero) {
    using T = decltype(zero);
    launch(ldl_solve_kernel<T>, grid_for(sizes.count * sizes.columns, stream), stream,
           p.a.as<const T>(), p.pivots.as<const int>(), p.b.as<T>(), sizes);
  });
}

void find_not_finite(const View& matrices, Part part, int* flags, Ctx& ctx) {
  const MatrixSizes sizes(matrices);
  const NativeStream& stream = stream_of(ctx);
  HEARTH_CUDA(cudaMemsetAsync(flags, 0, size_t(sizes.count) * sizeof(int), stream.stream));
  with_real(matrices.dtype, [&](auto zero) {
    using T = decltype(zero);
    launch(find_not_finite_kernel<T>, grid_for(matrices.numel, stream), stream,
           matrices.as<const T>(), sizes, part, flags);
  });
}

void fill_flagged(const View& view, int64_t elements, const int* flags, double value, Ctx& ctx) {
  if (!view.defined() || view.numel == 0) return;
  const NativeStream& stream = stream_of(ctx);
  with_real(view.dtype, [&](auto zero) {
    using T = decltype(zero);
    launch(fill_flagged_kernel<T>, grid_for(view.numel, stream), stream, view.as<T>(), elements,
           view.numel, flags, static_cast<T>(value));
  });
}

void set_info(int* info, int64_t count, const int* flags, int on_nan, Ctx& ctx) {
  const NativeStream& stream = stream_of(ctx);
  launch(set_info_kernel, grid_for(count, stream), stream, info, count, flags, on_nan);
}

void check_diagonal(const View& matrices, bool zero_counts, int* info, Ctx& ctx) {
  const MatrixSizes sizes(matrices);
  const NativeStream& stream = stream_of(ctx);
  with_real(matrices.dtype, [&](auto zero) {
    using T = decltype(zero);
    launch(check_diagonal_kernel<T>, grid_for(sizes.count, stream), stream, matrices.as<const T>(),
           sizes, zero_counts, info);
  });
}

}  // namespace hearth::cuda
