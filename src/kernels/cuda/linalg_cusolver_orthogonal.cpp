// QR, singular values and eigenvalues by cuSOLVER, one matrix after the other: geqrf and orgqr for
// QR, gesvdj for singular values (gesvd where it does not converge, for which the host waits),
// syevd and Xgeev for eigenvalues. Before the calls, matrices that are not finite become zeros for
// gesvdj and syevd, gesvdj's are copied for gesvd, and Xgeev's become complex.
#include "kernels/cuda/linalg_cusolver.h"
#include "kernels/cuda/loop.h"
#include "kernels/cuda/recurrence_products.h"

namespace hearth::cuda {

namespace {

/// cuSOLVER's settings of a decomposition: created by one function, destroyed by another.
template <class Handle, auto create, auto destroy>
class Settings {
 public:
  Settings() { check_cusolver((Cusolver::get().*create)(&handle_), "the creation of settings"); }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  ~Settings() { (Cusolver::get().*destroy)(handle_); }
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using SvdSettings = Settings<gesvdjInfo_t, &Cusolver::cusolverDnCreateGesvdjInfo,
                             &Cusolver::cusolverDnDestroyGesvdjInfo>;
using EigSettings = Settings<cusolverDnParams_t, &Cusolver::cusolverDnCreateParams,
                             &Cusolver::cusolverDnDestroyParams>;

cusolverEigMode_t mode_of(bool vectors) {
  return vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
}

/// A view like `from` with another dtype, in scratch memory.
View scratch_view(const View& from, ScalarType dtype, Ctx& ctx) {
  View view = from;
  view.dtype = dtype;
  view.data = ctx.scratch(static_cast<size_t>(view.numel) * element_size(dtype));
  return view;
}

View transposed(View view) {
  std::swap(view.sizes[view.dim - 2], view.sizes[view.dim - 1]);
  std::swap(view.strides[view.dim - 2], view.strides[view.dim - 1]);
  return view;
}

/// Column-major memory of one matrix's factors.
template <class T>
struct SvdFactors {
  T *s, *u, *v;
};

/// to = the transpose of `from`, which has `rows` rows; both are stored column by column.
template <class T>
void transpose(T* to, const T* from, int64_t rows, int64_t columns, Ctx& ctx) {
  Ctx own(ctx.backend(), ctx.device(), ctx.stream(), ctx.faults(), ctx.numerics());
  run(copy_params(matrix_view(to, rows, columns),
                  transposed_matrix(matrix_view(from, columns, rows))),
      own);
}

/// Computes A = U diag(s) V^T by QR iterations, which need at least as many rows as columns; a wide
/// matrix is transposed, so that U and V change places. Destroys a, unless it is wide.
template <class T>
void svd_by_qr(const SvdParams& p, T* a, const SvdFactors<T>& out, int* info,
               const SolverContext& solver) {
  const MatrixSizes s(p.a);
  const int m = s.longer(), n = s.shorter();
  const bool is_wide = s.rows < s.columns;
  T *const left = is_wide ? out.v : out.u, *const right = is_wide ? out.u : out.v;
  T* tall = a;
  if (is_wide) {
    tall = solver.scratch<T>(int64_t{m} * n);
    transpose(tall, a, s.rows, s.columns, solver.ctx);
  }
  int size = 0;
  HEARTH_CUSOLVER(T, gesvd_bufferSize, solver.handle, m, n, &size);
  T *const work = solver.scratch<T>(size), *const rest = solver.scratch<T>(n),
           *const right_transposed = solver.scratch<T>(int64_t{n} * n);
  const signed char left_job = !p.vectors ? 'N'
                               : p.full   ? 'A'
                                          : 'S',
                    right_job = p.vectors ? 'S' : 'N';
  HEARTH_CUSOLVER(T, gesvd, solver.handle, left_job, right_job, m, n, tall, m, out.s, left, m,
                  right_transposed, n, work, size, rest, info);
  if (p.vectors) transpose(right, right_transposed, n, n, solver.ctx);
}

/// Computes A = U diag(s) V^T by Jacobi's method, which gives V instead of V^T. If the method does
/// not converge for a matrix, uses QR iterations.
template <class T>
void svd(const SvdParams& p, const SolverContext& solver) {
  const MatrixSizes s(p.a);
  const int u_columns = p.full ? s.rows : s.shorter(), v_columns = p.full ? s.columns : s.shorter();
  const int64_t u_size = int64_t{s.rows} * u_columns, v_size = int64_t{s.columns} * v_columns;
  // cuSOLVER needs memory for the vectors even if it does not compute them.
  T* const u = p.vectors ? p.u.as<T>() : solver.scratch<T>(s.count * u_size);
  T* const v = solver.scratch<T>(s.count * v_size);
  const SvdSettings settings;
  const cusolverEigMode_t mode = mode_of(p.vectors);
  const int is_economy = p.full ? 0 : 1;
  int size = 0;
  HEARTH_CUSOLVER(T, gesvdj_bufferSize, solver.handle, mode, is_economy, s.rows, s.columns,
                  p.a.as<T>(), s.rows, p.s.as<T>(), u, s.rows, v, s.columns, &size, settings);
  T* const work = solver.scratch<T>(size);
  const View copy = scratch_view(p.a, p.a.dtype, solver.ctx);
  run(copy_params(copy, p.a), solver.ctx);
  for (int64_t i = 0; i < s.count; ++i)
    HEARTH_CUSOLVER(T, gesvdj, solver.handle, mode, is_economy, s.rows, s.columns, s.at<T>(p.a, i),
                    s.rows, p.s.as<T>() + i * s.shorter(), u + i * u_size, s.rows, v + i * v_size,
                    s.columns, work, size, p.info.as<int>() + i, settings);
  std::vector<int> info(static_cast<size_t>(s.count));
  HEARTH_CUDA(cudaMemcpyAsync(info.data(), p.info.as<int>(), info.size() * sizeof(int),
                              cudaMemcpyDeviceToHost, solver.stream.stream));
  HEARTH_CUDA(cudaStreamSynchronize(solver.stream.stream));
  for (int64_t i = 0; i < s.count; ++i)
    if (info[size_t(i)] > 0)
      svd_by_qr<T>(p, s.at<T>(copy, i),
                   {p.s.as<T>() + i * s.shorter(), u + i * u_size, v + i * v_size},
                   p.info.as<int>() + i, solver);
  if (!p.vectors) return;
  View vectors = transposed(p.vh);  // the columns of V, one after the other
  vectors.data = v;
  int64_t stride = v_size;
  for (int d = vectors.dim - 3; d >= 0; stride *= vectors.sizes[d--]) vectors.strides[d] = stride;
  vectors.strides[vectors.dim - 2] = 1;
  vectors.strides[vectors.dim - 1] = s.columns;
  run(copy_params(p.vh, transposed(vectors)), solver.ctx);
}

/// Computes the eigenvalues and eigenvectors of complex copies of the matrices, because complex
/// results need no unpacking.
template <class T>
void eig(const EigParams& p, const SolverContext& solver) {
  const MatrixSizes s(p.a);
  const int64_t n = s.rows;
  const View complex_a = scratch_view(p.a, p.w.dtype, solver.ctx);
  run(copy_params(complex_a, p.a), solver.ctx);
  const cudaDataType type = std::is_same_v<T, double> ? CUDA_C_64F : CUDA_C_32F;
  const EigSettings settings;
  const cusolverEigMode_t mode = mode_of(p.vectors);
  const Cusolver& library = Cusolver::get();
  const auto at = [&](const View& view, int64_t i, int64_t elements) -> complex<T>* {
    return view.defined() ? view.as<complex<T>>() + i * elements : nullptr;
  };
  size_t device_bytes = 0, host_bytes = 0;
  check_cusolver(library.cusolverDnXgeev_bufferSize(
                     solver.handle, settings, CUSOLVER_EIG_MODE_NOVECTOR, mode, n, type,
                     complex_a.data, n, type, p.w.data, type, nullptr, n, type, at(p.v, 0, n * n),
                     n, type, &device_bytes, &host_bytes),
                 "Xgeev_bufferSize");
  void* const work = solver.ctx.scratch(device_bytes);
  /// Memory that the library may use until the stream has finished, even after a failed call.
  struct HostWork {
    std::vector<char> bytes;
    cudaStream_t stream;
    ~HostWork() { cudaStreamSynchronize(stream); }
  } host_work{std::vector<char>(host_bytes), solver.stream.stream};
  for (int64_t i = 0; i < s.count; ++i)
    check_cusolver(
        library.cusolverDnXgeev(solver.handle, settings, CUSOLVER_EIG_MODE_NOVECTOR, mode, n, type,
                                at(complex_a, i, n * n), n, type, at(p.w, i, n), type, nullptr, n,
                                type, at(p.v, i, n * n), n, type, work, device_bytes,
                                host_work.bytes.data(), host_bytes, p.info.as<int>() + i),
        "Xgeev");
}

}  // namespace

void run(const QrFactorParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  if (s.count == 0 || s.shorter() == 0) return;
  const SolverContext solver(ctx);
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    int size = 0;
    HEARTH_CUSOLVER(T, geqrf_bufferSize, solver.handle, s.rows, s.columns, p.a.as<T>(), s.rows,
                    &size);
    T* const work = solver.scratch<T>(size);
    int* const info = solver.scratch<int>(1);
    for (int64_t i = 0; i < s.count; ++i)
      HEARTH_CUSOLVER(T, geqrf, solver.handle, s.rows, s.columns, s.at<T>(p.a, i), s.rows,
                      p.tau.as<T>() + i * s.shorter(), work, size, info);
  });
}

void run(const HouseholderProductParams& p, Ctx& ctx) {
  const MatrixSizes s(p.q);
  if (s.count == 0 || s.shorter() == 0) return;
  const SolverContext solver(ctx);
  const int k = int(p.tau.sizes[p.tau.dim - 1]);
  with_real(p.q.dtype, [&](auto zero) {
    using T = decltype(zero);
    int size = 0;
    HEARTH_CUSOLVER(T, orgqr_bufferSize, solver.handle, s.rows, s.columns, k, p.q.as<const T>(),
                    s.rows, p.tau.as<const T>(), &size);
    T* const work = solver.scratch<T>(size);
    int* const info = solver.scratch<int>(1);
    for (int64_t i = 0; i < s.count; ++i)
      HEARTH_CUSOLVER(T, orgqr, solver.handle, s.rows, s.columns, k, s.at<T>(p.q, i), s.rows,
                      p.tau.as<const T>() + i * k, work, size, info);
  });
}

void run(const SvdParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  if (s.count == 0) return;
  const SolverContext solver(ctx);
  solver.clear(p.info.as<int>(), s.count);
  if (s.shorter() == 0) return;
  const NotFinite bad(p.a, Part::kAll, solver);
  with_real(p.a.dtype, [&](auto zero) { svd<decltype(zero)>(p, solver); });
  for (const View* result : {&p.s, &p.u, &p.vh}) bad.set_nan(*result);
  bad.set_info(p.info.as<int>(), -4);
}

void run(const EighParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  const int n = s.rows;
  if (s.count == 0 || n == 0) return;
  const SolverContext solver(ctx);
  const NotFinite bad(p.a, p.upper ? Part::kUpper : Part::kLower, solver);
  with_real(p.a.dtype, [&](auto zero) {
    using T = decltype(zero);
    const cusolverEigMode_t mode = mode_of(p.vectors);
    const cublasFillMode_t triangle = fill_mode(p.upper);
    int size = 0;
    HEARTH_CUSOLVER(T, syevd_bufferSize, solver.handle, mode, triangle, n, p.a.as<const T>(), n,
                    p.w.as<const T>(), &size);
    T* const work = solver.scratch<T>(size);
    for (int64_t i = 0; i < s.count; ++i)
      HEARTH_CUSOLVER(T, syevd, solver.handle, mode, triangle, n, s.at<T>(p.a, i), n,
                      p.w.as<T>() + i * n, work, size, p.info.as<int>() + i);
  });
  bad.set_nan(p.w);
  bad.set_nan(p.a);
  bad.set_info(p.info.as<int>(), 0);
}

void run(const EigParams& p, Ctx& ctx) {
  const MatrixSizes s(p.a);
  if (s.count == 0 || s.rows == 0) return;
  const SolverContext solver(ctx);
  with_real(p.a.dtype, [&](auto zero) { eig<decltype(zero)>(p, solver); });
}

}  // namespace hearth::cuda
