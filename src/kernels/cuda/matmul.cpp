// Matrix products. Matrices are passed to cublasLtMatmul (matmul_cublas.cpp) as they are if they or
// their transposes have contiguous rows; others are copied first. Integers go to matmul_integer.cu,
// products with an empty inner dimension to a pointwise kernel.
#include "kernels/cuda/matmul.h"

#include <utility>

#include "functors/arithmetic.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/loop.h"

namespace hearth::cuda {

namespace {

View transposed(View view) {
  std::swap(view.sizes[view.dim - 2], view.sizes[view.dim - 1]);
  std::swap(view.strides[view.dim - 2], view.strides[view.dim - 1]);
  return view;
}

/// Whether rows are contiguous and do not overlap, so that the matrix has a leading dimension.
bool has_rows(const View& view) {
  const int rows = view.dim - 2, columns = view.dim - 1;
  if (view.sizes[columns] > 1 && view.strides[columns] != 1) return false;
  return view.sizes[rows] == 1 || view.strides[rows] >= view.sizes[columns];
}

/// Returns a contiguous view of the same sizes in scratch memory.
View scratch_like(const View& view, Ctx& ctx) {
  View copy = view;
  int64_t stride = 1;
  for (int d = copy.dim - 1; d >= 0; --d) {
    copy.strides[d] = stride;
    stride *= copy.sizes[d];
  }
  copy.data = ctx.scratch(static_cast<size_t>(copy.numel) * element_size(copy.dtype));
  return copy;
}

/// Describes a row-major matrix, which in column-major terms is the transposed one.
Matrix row_major(const View& view) {
  Matrix matrix;
  matrix.data = view.data;
  const int64_t row = view.strides[view.dim - 2], columns = view.sizes[view.dim - 1];
  matrix.leading = view.sizes[view.dim - 2] == 1 ? columns : row;
  matrix.batch_stride = view.dim == 3 ? view.strides[0] : 0;
  return matrix;
}

/// Describes an input for cublasLt; copies it if it has no leading dimension.
Matrix input_matrix(const View& view, Ctx& ctx) {
  if (has_rows(view)) return row_major(view);
  if (const View flipped = transposed(view); has_rows(flipped)) {
    Matrix matrix = row_major(flipped);
    matrix.transposed = true;
    return matrix;
  }
  const View copy = scratch_like(view, ctx);
  run(copy_params(copy, view), ctx);
  return row_major(copy);
}

/// Whether c is one contiguous row that is broadcast.
bool is_bias(const View& c) {
  if (c.dim != 2) return false;
  return (c.sizes[0] == 1 || c.strides[0] == 0) && (c.sizes[1] == 1 || c.strides[1] == 1);
}

/// Sets out = beta * c, or 0 without c: the result for an empty inner dimension.
void scale_into(const View& out, const MatmulParams& params, bool add_c, Ctx& ctx) {
  PointwiseParams scale = copy_params(out, add_c ? params.c : out);
  scale.functor = fn::number_of<fn::Mul>;
  scale.inputs = 2;
  scale.in[1] = number_operand(add_c ? params.beta : 0.0);
  if (!add_c) {  // 0 * out would keep NaN
    scale.functor = fn::number_of<fn::Copy>;
    scale.inputs = 1;
    scale.in[0] = scale.in[1];
  }
  run(scale, ctx);
}

/// Sets the term beta * c: as a bias, as a matrix, or as a copy in `out`.
void set_c(Gemm& gemm, const MatmulParams& params, const View& out, Ctx& ctx) {
  gemm.c = gemm.out;
  if (!params.c.defined() || params.beta == 0) return;
  // cublasLt may write parts of a sum into `out` before it reads the bias.
  const bool in_place = params.c.data == out.data;
  if (params.beta == 1 && out.dim == 2 && is_bias(params.c) && !in_place &&
      !is_complex(out.dtype)) {
    gemm.bias = params.c.data;
    return;
  }
  gemm.beta = params.beta;
  if (has_rows(params.c) && params.c.dim == out.dim)
    gemm.c = row_major(params.c);
  else
    run(copy_params(out, params.c), ctx);
}

/// Computes the product for an output with contiguous rows.
void run_row_major(const MatmulParams& params, Ctx& ctx) {
  const View& out = params.out;
  Gemm gemm;
  gemm.dtype = out.dtype;
  gemm.rows = out.sizes[out.dim - 1];  // out's transpose, column-major, is b's transpose times a's
  gemm.columns = out.sizes[out.dim - 2];
  gemm.inner = params.a.sizes[params.a.dim - 1];
  gemm.batch = out.dim == 3 ? out.sizes[0] : 1;
  gemm.a = input_matrix(params.b, ctx);
  gemm.b = input_matrix(params.a, ctx);
  gemm.out = row_major(out);
  gemm.alpha = params.alpha;
  set_c(gemm, params, out, ctx);
  if (float_matmul(gemm, ctx)) return;
  if (gemm.bias != nullptr) {  // for some alignments no algorithm adds a bias
    run(copy_params(out, params.c), ctx);
    gemm.bias = nullptr;
    gemm.c = gemm.out;
    gemm.beta = 1;
    if (float_matmul(gemm, ctx)) return;
  }
  detail::fail<Error>("cuBLAS has no algorithm for a matrix product of ", gemm.columns, " x ",
                      gemm.inner, " by ", gemm.inner, " x ", gemm.rows, " in ",
                      name_of(gemm.dtype));
}

/// Computes the product for an output of any strides.
void run_float(const MatmulParams& params, Ctx& ctx) {
  if (has_rows(params.out)) return run_row_major(params, ctx);
  MatmulParams rearranged = params;
  if (const View flipped = transposed(params.out); has_rows(flipped)) {
    rearranged.a = transposed(params.b);
    rearranged.b = transposed(params.a);
    rearranged.out = flipped;
    if (params.c.defined()) rearranged.c = transposed(params.c);
    return run_row_major(rearranged, ctx);
  }
  rearranged.out = scratch_like(params.out, ctx);
  run_row_major(rearranged, ctx);
  run(copy_params(params.out, rearranged.out), ctx);
}

}  // namespace

void run(const MatmulParams& params, Ctx& ctx) {
  const View& out = params.out;
  if (out.numel == 0) return;
  const bool add_c = params.c.defined() && params.beta != 0;
  if (params.a.sizes[params.a.dim - 1] == 0) return scale_into(out, params, add_c, ctx);
  if (is_integral(out.dtype, true)) return integer_matmul(params, add_c, ctx);
  run_float(params, ctx);
}

}  // namespace hearth::cuda
