#pragma once

// Helpers of the functions of matrices (ops/linalg_*.cpp).

#include <optional>
#include <string>
#include <vector>

#include "core/modes.h"
#include "hearth/autograd.h"
#include "hearth/operators.h"
#include "ops/composed_gradient.h"
#include "ops/composed_out.h"
#include "ops/copy.h"
#include "ops/promote.h"
#include "seam/linalg.h"

namespace hearth::linalg {

// Checks, with PyTorch's texts; `name` is the name of the argument.
void check_matrix(const Tensor& t, const char* op, const char* name = "A");
void check_square(const Tensor& t, const char* op, const char* name = "A");
/// check_square with an error text that does not name the operator.
void check_square_plain(const Tensor& t);
/// Refuses integers and, unless allowed, half types.
void check_floating(const Tensor& t, const char* op, bool allow_low_precision = true);
/// Refuses dtypes and sizes that the kernels do not support: "\"lu_cpu\" not implemented for
/// 'Half'".
void check_real(const Tensor& t, const char* kernel);
void check_same_type(const char* op, const char* name, const Tensor& a, const Tensor& b);
/// Throws unless the sizes of A and B fit A X = B or, if not left, X A = B.
void check_solvable(const Tensor& a, const Tensor& b, bool left, const char* op);

/// Throws text(code) for the first nonzero code of `info`, preceded by the operator's name and, for
/// batches, "(Batch element i): ". Does nothing on the meta device.
template <class E = LinAlgError, class Text>
void check_info(const char* op, const Tensor& info, const Text& text) {
  if (info.is_meta() || info.numel() == 0) return;
  const Tensor numbers = info.cpu().contiguous();
  for (int64_t i = 0; i < numbers.numel(); ++i)
    if (const int code = numbers.data_ptr<int>()[i]; code != 0)
      detail::fail<E>(op, ": ", info.dim() > 0 ? detail::str("(Batch element ", i, "): ") : "",
                      text(code));
}

/// For check_info: the text for a matrix without an inverse.
std::string text_of_singular(int code);

/// The sizes before the last `matrix_dims` dimensions.
Dims batch_of(IntArrayRef sizes, size_t matrix_dims = 2);
/// The sizes of a batch of matrices or vectors: those of the batch, then `sizes`.
Dims with_sizes(Dims batch, std::initializer_list<int64_t> sizes);
/// Expands the batch dimensions of t, without a copy.
Tensor expand_batch(const Tensor& t, const Dims& batch);
/// The batch to which two tensors of matrices broadcast.
Dims common_batch(const Tensor& a, const Tensor& b);
/// A batch of identity matrices of the size of t's last dimension.
Tensor identity_like(const Tensor& t, const Dims& batch);
/// Reshapes a tensor of one number per matrix to broadcast over the matrices.
inline Tensor as_factor(const Tensor& t) { return t.unsqueeze(-1).unsqueeze(-1); }
inline Tensor diagonal_of(const Tensor& t) { return t.diagonal(0, -2, -1); }

/// Sets output i, with the matrices stored column by column, as LAPACK writes them.
void set_column_major(InferContext& context, int i, IntArrayRef sizes, ScalarType dtype);
/// Allocates matrices in scratch memory, stored column by column.
View scratch_matrices(Ctx& ctx, IntArrayRef sizes, ScalarType dtype);
/// The view itself if its matrices are stored by columns or by rows, without gaps, else a copy.
View packed(LaunchContext& context, const View& view);
/// Expands the batch dimensions of a view to those of `sizes`, with stride 0.
View expand_batch(const View& view, IntArrayRef sizes, int matrix_dims);
/// Views the first `size` elements of a dimension.
View narrowed(View view, int dim, int64_t size);

/// (LU, pivots, info) of linalg_lu_factor_ex.
TensorTriple factor_lu(const Tensor& a);
/// Swaps self's rows by pivots, in reverse order if `reversed`; both have the same batch.
Tensor apply_pivots(const Tensor& self, const Tensor& pivots, bool reversed);
/// X with L U X = P^T B or, if `adjoint`, with (P L U)^T X = B.
Tensor solve_by_lu(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool adjoint);
/// T^-1 b or, if `transposed`, T^-T b, where T is a triangle of a, with ones on the diagonal if
/// `unit`; a and b have the same batch.
Tensor solve_triangle(const Tensor& a, const Tensor& b, bool upper, bool transposed,
                      bool unit = false);
/// A^-1 B without errors: inf or NaN for singular matrices; and info.
TensorPair solve_ex(const Tensor& a, const Tensor& b);
/// (U, S, Vh, info); without `vectors`, U and Vh may be undefined.
std::vector<Tensor> svd_of(const Tensor& a, bool full, bool vectors);
/// Singular values, or eigenvalues and eigenvectors of symmetric matrices, with checks.
Tensor singular_values(const Tensor& a);
TensorPair eigh_of(const Tensor& a, bool upper, bool vectors);
/// The gradient of A, given the gradient of its pseudoinverse.
Tensor pinv_gradient(const Tensor& grad, const Tensor& a, const Tensor& pinv);

/// The out= form of an op with several results.
void write_results(const char* op, std::initializer_list<Tensor*> outs,
                   const std::function<std::vector<Tensor>()>& compute);

/// An op composed by a function of its parameters and inputs.
template <const OpInfo& op_info, class Parameters, auto function>
struct Composed {
  using Args = Parameters;
  static constexpr OpInfo info = op_info;
  template <class... T>
  static auto compute(const Args& args, const T&... inputs) {
    return function(args, inputs...);
  }
};

/// PyTorch's policy for most of these functions: float32 under autocast on the CPU.
constexpr OpInfo float32_under_cpu_autocast(const char* name, const char* arguments = "A") {
  return {.name = name, .arguments = arguments, .amp_cpu = Amp::kFloat32};
}

}  // namespace hearth::linalg

// The out= forms of functions with two and three results; the last argument calls the function.
#define HEARTH_DEFINE_TWO_OUT(name, first, second, params, ...)                \
  TensorRefPair name##_out(Tensor& first, Tensor& second HEARTH_REST params) { \
    linalg::write_results(#name, {&first, &second}, [&] {                      \
      auto [x, y] = __VA_ARGS__;                                               \
      return std::vector<Tensor>{x, y};                                        \
    });                                                                        \
    return {first, second};                                                    \
  }
#define HEARTH_DEFINE_THREE_OUT(name, first, second, third, params, ...)                        \
  TensorRefTriple name##_out(Tensor& first, Tensor& second, Tensor& third HEARTH_REST params) { \
    linalg::write_results(#name, {&first, &second, &third}, [&] {                               \
      auto [x, y, z] = __VA_ARGS__;                                                             \
      return std::vector<Tensor>{x, y, z};                                                      \
    });                                                                                         \
    return {first, second, third};                                                              \
  }
// A function without a method, and its out= form.
#define HEARTH_DEFINE_LINALG(name, params, ...) \
  Tensor name params { return __VA_ARGS__; }    \
  HEARTH_DEFINE_WRITE_OUT(name, params, __VA_ARGS__)
