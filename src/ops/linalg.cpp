// Checks and layouts that the functions of matrices share.
#include "ops/linalg.h"

#include <algorithm>
#include <limits>

#include "ops/binding.h"

namespace hearth::linalg {

void check_matrix(const Tensor& t, const char* op, const char* name) {
  check_defined(op, 0, name, t);
  HEARTH_CHECK(t.dim() >= 2, op, ": The input tensor ", name, " must have at least 2 dimensions.");
}

void check_square_plain(const Tensor& t) {
  HEARTH_CHECK(t.size(-2) == t.size(-1), "A must be batches of square matrices, but they are ",
               t.size(-2), " by ", t.size(-1), " matrices");
}

void check_square(const Tensor& t, const char* op, const char* name) {
  check_matrix(t, op, name);
  HEARTH_CHECK(t.size(-2) == t.size(-1), op, ": ", name,
               " must be batches of square matrices, but they are ", t.size(-2), " by ", t.size(-1),
               " matrices");
}

void check_floating(const Tensor& t, const char* op, bool allow_low_precision) {
  const ScalarType type = t.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, is_differentiable(type), op,
                  ": Expected a floating point or complex tensor as input. Got ", name_of(type));
  HEARTH_CHECK_AS(NotImplementedError, allow_low_precision || !is_reduced_float(type), op,
                  ": Low precision dtypes not supported. Got ", name_of(type));
}

void check_real(const Tensor& t, const char* kernel) {
  const ScalarType type = t.scalar_type();
  HEARTH_CHECK_AS(NotImplementedError, type == kFloat || type == kDouble, "\"", kernel,
                  "\" not implemented for '", name_of(type), "'",
                  t.is_complex() ? ": complex matrices can be multiplied, but not factorized" : "");
  for (const int64_t size : t.sizes().slice(size_t(t.dim()) - 2, 2))
    HEARTH_CHECK(size <= std::numeric_limits<int>::max(), "\"", kernel,
                 "\" not implemented for matrices with ", size, " rows or columns");
}

void check_same_type(const char* op, const char* name, const Tensor& a, const Tensor& b) {
  HEARTH_CHECK(a.scalar_type() == b.scalar_type(), op, ": Expected ", name,
               " and B to have the same dtype, but found ", name, " of type ",
               name_of(a.scalar_type()), " and B of type ", name_of(b.scalar_type()), " instead");
}

void check_solvable(const Tensor& a, const Tensor& b, bool left, const char* op) {
  check_square(a, op);
  check_matrix(b, op, "B");
  HEARTH_CHECK(left ? a.size(-2) == b.size(-2) : a.size(-1) == b.size(-1), op,
               ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
               " (", a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
}

std::string text_of_singular(int code) {
  return detail::str("The diagonal element ", code,
                     " is zero, the inversion could not be completed because the input matrix is "
                     "singular.");
}

Dims batch_of(IntArrayRef sizes, size_t matrix_dims) {
  return Dims(sizes.slice(0, sizes.size() - matrix_dims));
}
Dims with_sizes(Dims batch, std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes) batch.push_back(size);
  return batch;
}
Tensor expand_batch(const Tensor& t, const Dims& batch) {
  return t.expand(with_sizes(batch, {t.size(-2), t.size(-1)}));
}
Dims common_batch(const Tensor& a, const Tensor& b) {
  return broadcast_sizes(batch_of(a.sizes()), batch_of(b.sizes()));
}
Tensor identity_like(const Tensor& t, const Dims& batch) {
  return expand_batch(by_name::eye(t.size(-1), t.options().requires_grad(false)), batch);
}

namespace {

/// Strides of matrices that are stored column by column.
Dims column_major(IntArrayRef sizes) {
  Dims strides(sizes);
  int64_t stride = std::max<int64_t>(sizes[sizes.size() - 2], 1);
  strides[sizes.size() - 2] = 1;
  strides[sizes.size() - 1] = stride;
  stride *= std::max<int64_t>(sizes.back(), 1);
  for (size_t d = sizes.size() - 2; d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

}  // namespace

void set_column_major(InferContext& context, int i, IntArrayRef sizes, ScalarType dtype) {
  context.set(i, sizes, dtype);
  context.out(i).strides = column_major(sizes);
  context.out(i).has_strides = true;
}

View scratch_matrices(Ctx& ctx, IntArrayRef sizes, ScalarType dtype) {
  View view;
  view.dtype = dtype;
  view.dim = int8_t(sizes.size());
  view.numel = 1;
  const Dims strides = column_major(sizes);
  for (size_t d = 0; d < sizes.size(); ++d) {
    view.sizes[d] = sizes[d];
    view.strides[d] = strides[d];
    view.numel *= sizes[d];
  }
  view.data = ctx.scratch(size_t(std::max<int64_t>(view.numel, 1)) * size_t(element_size(dtype)));
  return view;
}

View packed(LaunchContext& context, const View& view) {
  const Dims wanted = column_major(IntArrayRef(view.sizes, size_t(view.dim)));
  bool is_by_columns = true;
  for (int d = 0; d < view.dim; ++d)
    is_by_columns = is_by_columns && (view.sizes[d] == 1 || view.strides[d] == wanted[size_t(d)]);
  View result = is_by_columns ? view : dense(context, view);
  if (is_by_columns)
    std::copy_n(wanted.begin(), view.dim, result.strides);
  else
    result.make_contiguous();
  return result;
}

View expand_batch(const View& view, IntArrayRef sizes, int matrix_dims) {
  View result = view;
  result.dim = int8_t(sizes.size());
  result.numel = 1;
  const int num_added = result.dim - view.dim;
  for (int d = 0; d < result.dim; ++d) {
    const bool is_given = d >= num_added, is_batch = d < result.dim - matrix_dims;
    const int source = is_given ? d - num_added : 0;
    const bool is_repeated = !is_given || (is_batch && view.sizes[source] == 1);
    result.sizes[d] = is_batch ? sizes[size_t(d)] : view.sizes[source];
    result.strides[d] = is_repeated ? 0 : view.strides[source];
    result.numel *= result.sizes[d];
  }
  return result;
}

View narrowed(View view, int dim, int64_t size) {
  view.numel = view.sizes[dim] ? view.numel / view.sizes[dim] * size : 0;
  view.sizes[dim] = size;
  return view;
}

void write_results(const char* op, std::initializer_list<Tensor*> outs,
                   const std::function<std::vector<Tensor>()>& compute) {
  const NoAutocast no_autocast;
  const std::vector<Tensor> results = compute();
  size_t i = 0;
  for (Tensor* out : outs) {
    check_defined(op, int(i), "out", *out);
    write_out(op, *out, [&] { return results[i]; });
    ++i;
  }
}

}  // namespace hearth::linalg
