#pragma once

#include "torch/types.h"

// torch::linalg, a namespace of earlier versions of LibTorch: linalg::inv(x) is linalg_inv(x).
namespace torch::linalg {

inline Tensor cholesky(const Tensor& self) { return linalg_cholesky(self); }
inline Tensor det(const Tensor& self) { return linalg_det(self); }
inline TensorPair slogdet(const Tensor& input) { return linalg_slogdet(input); }
inline TensorPair eig(const Tensor& self) { return linalg_eig(self); }
inline Tensor eigvals(const Tensor& self) { return linalg_eigvals(self); }
inline TensorPair eigh(const Tensor& self, std::string_view uplo = "L") {
  return linalg_eigh(self, uplo);
}
inline Tensor eigvalsh(const Tensor& self, std::string_view uplo = "L") {
  return linalg_eigvalsh(self, uplo);
}
inline Tensor householder_product(const Tensor& input, const Tensor& tau) {
  return linalg_householder_product(input, tau);
}
inline Tensor inv(const Tensor& input) { return linalg_inv(input); }
inline TensorQuad lstsq(const Tensor& self, const Tensor& b, std::optional<double> cond = {},
                        std::optional<std::string_view> driver = {}) {
  return linalg_lstsq(self, b, cond, driver);
}
inline TensorPair lu_factor(const Tensor& input, bool pivot = true) {
  return linalg_lu_factor(input, pivot);
}
inline TensorTriple lu(const Tensor& input, bool pivot = true) { return linalg_lu(input, pivot); }
inline Tensor matrix_exp(const Tensor& self) { return linalg_matrix_exp(self); }
inline Tensor matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim = {-2, -1},
                          bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(const Tensor& self, std::string ord = "fro", IntArrayRef dim = {-2, -1},
                          bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_power(const Tensor& self, int64_t n) { return linalg_matrix_power(self, n); }
inline Tensor matrix_rank(const Tensor& input, double tol, bool hermitian = false) {
  return linalg_matrix_rank(input, tol, hermitian);
}
inline Tensor matrix_rank(const Tensor& input) { return linalg_matrix_rank(input); }
inline Tensor multi_dot(TensorList tensors) { return linalg_multi_dot(tensors); }
inline Tensor norm(const Tensor& self, const std::optional<Scalar>& ord = {},
                   OptionalIntArrayRef dim = {}, bool keepdim = false,
                   std::optional<ScalarType> dtype = {}) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor norm(const Tensor& self, std::string ord, OptionalIntArrayRef dim = {},
                   bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor pinv(const Tensor& input, double rcond = 1e-15, bool hermitian = false) {
  return linalg_pinv(input, rcond, hermitian);
}
inline TensorPair qr(const Tensor& input, std::string_view mode = "reduced") {
  return linalg_qr(input, mode);
}
inline Tensor solve(const Tensor& input, const Tensor& other, bool left = true) {
  return linalg_solve(input, other, left);
}
inline Tensor solve_triangular(const Tensor& input, const Tensor& other, bool upper,
                               bool left = true, bool unitriangular = false) {
  return linalg_solve_triangular(input, other, upper, left, unitriangular);
}
inline TensorTriple svd(const Tensor& input, bool full_matrices = true,
                        std::optional<std::string_view> driver = {}) {
  return linalg_svd(input, full_matrices, driver);
}
inline Tensor svdvals(const Tensor& input, std::optional<std::string_view> driver = {}) {
  return linalg_svdvals(input, driver);
}
inline Tensor tensorinv(const Tensor& self, int64_t ind = 2) { return linalg_tensorinv(self, ind); }
inline Tensor tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims = {}) {
  return linalg_tensorsolve(self, other, dims);
}
inline Tensor vector_norm(const Tensor& self, const Scalar& ord = 2, OptionalIntArrayRef dim = {},
                          bool keepdim = false, std::optional<ScalarType> dtype = {}) {
  return linalg_vector_norm(self, ord, dim, keepdim, dtype);
}

}  // namespace torch::linalg
